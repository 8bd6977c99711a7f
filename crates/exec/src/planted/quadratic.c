/* Planted: every operation takes longer than the one before it, so that a time an operation depends on how many there are. */
#include "../runtime/kernel.h"
static void run(struct context *c, uint64_t n, uint64_t *check)
{
	uint64_t done = 0;
	(void)c;
	for (uint64_t i = 0; i < n; i++) {
		for (uint64_t j = 0; j < i; j++)
			OPAQUE(j);
		done++;
		OPAQUE(done);
	}
	*check = done;
}
static uint64_t expect(struct context *c, uint64_t n) { (void)c; return n; }
const struct kernel kernel = {.name = "planted/quadratic", .run = run, .expect = expect};
