/* rt/clock-overhead: cost of reading the clock (hp-1987, table 5.1).
 *
 * One operation is one clock_gettime(CLOCK_MONOTONIC): the clock of deadlines and of the other benchmarks of this family. The check value
 * is the number of readings not earlier than their predecessor, which must be all.
 */
#define _GNU_SOURCE
#include <time.h>

#include "../runtime/kernel.h"

static void run(struct context *c, uint64_t n, uint64_t *check)
{
	struct timespec t;
	uint64_t before = 0, forwards = 0;
	for (uint64_t i = 0; i < n; i++) {
		if (clock_gettime(CLOCK_MONOTONIC, &t) != 0) {
			failed(c, "clock_gettime");
			return;
		}
		uint64_t now = (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
		forwards += now >= before;
		before = now;
	}
	*check = forwards;
}

static uint64_t expect(struct context *c, uint64_t n)
{
	(void)c;
	return n;
}

const struct kernel kernel = {
	.name = "rt/clock-overhead",
	.run = run,
	.expect = expect,
};
