/* Planted: a sum with compensation for rounding, which is right only where arithmetic is done as written. */
#include "../runtime/kernel.h"
static void run(struct context *c, uint64_t n, uint64_t *check)
{
	double sum = 9007199254740992.0, lost = 0, term = 1; /* 2^53, to which 1 cannot be added */
	(void)c;
	for (uint64_t i = 0; i < n; i++) {
		__asm__ volatile("" : "+m"(term));
		double corrected = term - lost, next = sum + corrected;
		lost = (next - sum) - corrected;
		sum = next;
	}
	*check = (uint64_t)(sum - 9007199254740992.0) - (uint64_t)(int64_t)lost;
}
static uint64_t expect(struct context *c, uint64_t n) { (void)c; return n; }
const struct kernel kernel = {.name = "planted/compensated", .run = run, .expect = expect};
