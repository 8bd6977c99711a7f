/* Files between two hosts, a stream out: what test 8 of hp-1987, section 9, adds to load level 3. The other host is kept to one CPU, away from the one
 * on which responses are measured where there are two. */
#define _GNU_SOURCE
#include "transfer.h"

int main(void)
{
	count_together();
	have_no_hosts((struct traffic){.out = 1, .in = 0, .pinned = 1});
	exit_with(SKIPPED, NO_VETH_REASON);
}
