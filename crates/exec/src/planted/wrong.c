/* Planted: does half of its work, and records latencies. */
#include "../runtime/kernel.h"
static void run(struct context *c, uint64_t n, uint64_t *check)
{
	for (uint64_t i = 0; i < n / 2; i++) {
		uint64_t start = now_ns();
		record(c, start, now_ns());
		++*check;
	}
}
static uint64_t expect(struct context *c, uint64_t n) { (void)c; return n; }
const struct kernel kernel = {.name = "planted/wrong", .run = run, .expect = expect};
