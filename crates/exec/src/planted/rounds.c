/* Counts on rounding: half and 2^53 are 2^53, whereas a compiler that may reorder sums takes 2^53 away again first. */
#include "../runtime/kernel.h"

static volatile double half = 0.5, large = 9007199254740992.0;

static void run(struct context *c, uint64_t n, uint64_t *check)
{
	double big = large;
	(void)c;
	for (uint64_t i = 0; i < n; i++)
		*check += ((half + big) - big) == 0.0;
}

static uint64_t expect(struct context *c, uint64_t n)
{
	(void)c;
	return n;
}

const struct kernel kernel = {.name = "planted/rounds", .run = run, .expect = expect};
