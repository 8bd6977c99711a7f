/* {FAMILY}/{NAME}: what it measures.
 *
 * One operation is one addition. The program does the work only: the runtime that it is linked with times it, prints, and parses
 * arguments. kernel.h also has parameter() for `params` of the entry, failed() for a call that fails, skip() for what this
 * system cannot do, and hooks before and after the timed region.
 */
#include "../runtime/kernel.h"

/* The timed region: n operations. *check gets a value that shows that all were done. */
static void run(struct context *c, uint64_t n, uint64_t *check)
{
	uint64_t sum = 0;
	(void)c;
	for (uint64_t i = 0; i < n; i++) {
		sum += i;
		OPAQUE(sum); /* the compiler cannot know it, and so cannot take the loop away */
	}
	*check = sum;
}

/* The value of *check after n operations, computed otherwise. */
static uint64_t expect(struct context *c, uint64_t n)
{
	(void)c;
	return n % 2 == 0 ? n / 2 * (n - 1) : (n - 1) / 2 * n;
}

const struct kernel kernel = {.name = "{FAMILY}/{NAME}", .run = run, .expect = expect};
