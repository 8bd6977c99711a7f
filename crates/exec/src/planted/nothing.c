/* Planted: does no work at all. */
#include "../runtime/kernel.h"
static void run(struct context *c, uint64_t n, uint64_t *check) { (void)c; (void)n; (void)check; }
const struct kernel kernel = {.name = "planted/nothing", .run = run};
