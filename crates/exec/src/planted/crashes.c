/* Planted: is killed by a signal after it has begun to measure. */
#include <signal.h>
#include <stdio.h>
#include "../runtime/kernel.h"
static void run(struct context *c, uint64_t n, uint64_t *check)
{
	(void)c; (void)check;
	if (n > 2) {
		fprintf(stderr, "about to crash\n");
		raise(SIGSEGV);
	}
}
const struct kernel kernel = {.name = "planted/crashes", .run = run};
