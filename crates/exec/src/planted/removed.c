/* Planted: a loop whose result is a closed form, and that nothing keeps the compiler from replacing by it. */
#include "../runtime/kernel.h"
static void run(struct context *c, uint64_t n, uint64_t *check)
{
	uint64_t turns = 0;
	(void)c;
	for (uint64_t i = 0; i < n; i++)
		turns++;
	*check = turns;
}
static uint64_t expect(struct context *c, uint64_t n) { (void)c; return n; }
const struct kernel kernel = {.name = "planted/removed", .run = run, .expect = expect};
