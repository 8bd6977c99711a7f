/* Planted: never comes back, and does not listen to SIGTERM. */
#include <signal.h>
#include <unistd.h>
#include "../runtime/kernel.h"
static void run(struct context *c, uint64_t n, uint64_t *check)
{
	(void)c; (void)n; (void)check;
	signal(SIGTERM, SIG_IGN);
	for (;;)
		pause();
}
const struct kernel kernel = {.name = "planted/hangs", .run = run};
