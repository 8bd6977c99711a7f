/* FAMILY/NAME: what it measures.
 *
 * One operation is one addition. The program does the work, and neither times, prints nor parses arguments: the runtime that it
 * is linked with does. kernel.h is put in its place when it is compiled; what else it offers: parameter() for `params` of
 * the entry, failed() for a call that fails, skip() for what cannot be done here, hooks before and after what is timed.
 */
#include "../runtime/kernel.h"

/* The timed region: n operations. What shows that they were done goes to *check. */
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

/* What *check must be after n operations, by other means. */
static uint64_t expect(struct context *c, uint64_t n)
{
	(void)c;
	return n % 2 == 0 ? n / 2 * (n - 1) : (n - 1) / 2 * n;
}

const struct kernel kernel = {.name = "FAMILY/NAME", .run = run, .expect = expect};
