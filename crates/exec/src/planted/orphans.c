/* Planted: kills its supervisor, so that no process ends its child. */
#include <signal.h>
#include <unistd.h>
#include "kernel.h"
static void run(struct context *c, uint64_t n, uint64_t *check)
{
	(void)c; (void)n; (void)check;
	if (fork() != 0)
		kill(getppid(), SIGKILL);
	for (;;)
		pause();
}
const struct kernel kernel = {.name = "planted/orphans", .run = run};
