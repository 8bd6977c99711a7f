/* File transfer between two hosts, three streams each way: tests 10 and 11 of hp-1987, section 9. The other host is pinned to one CPU, on
 * machines with two CPUs not the one on which response times are measured. */
#define _GNU_SOURCE
#include "transfer.h"

int main(void)
{
	share_counter();
	run_two_hosts((struct traffic){.out = 3, .in = 3, .pinned = 1});
	exit_with(SKIPPED, NO_VETH_REASON);
}
