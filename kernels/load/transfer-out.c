/* File transfer between two hosts, one stream out: test 8 of hp-1987, section 9, in addition to load level 3. The other host is pinned to
 * one CPU, on machines with two CPUs not the one on which response times are measured. */
#define _GNU_SOURCE
#include "transfer.h"

int main(void)
{
	share_counter();
	run_two_hosts((struct traffic){.out = 1, .in = 0, .pinned = 1});
	exit_with(SKIPPED, NO_VETH_REASON);
}
