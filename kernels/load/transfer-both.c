/* Files between two hosts, three streams each way: tests 10 and 11 of hp-1987, section 9. The other host is kept to one CPU, away from the one
 * on which responses are measured where there are two. */
#define _GNU_SOURCE
#include "transfer.h"

int main(void)
{
	count_together();
	have_no_hosts((struct traffic){.out = 3, .in = 3, .pinned = 1});
	exit_with(SKIPPED, NO_VETH_REASON);
}
