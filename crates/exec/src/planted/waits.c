/* Planted: is killed while its peer and another child wait for it; the child is in a session of its own. */
#include <signal.h>
#include <unistd.h>
#include "kernel.h"
static void setup(struct context *c)
{
	if (fork_peer(c) == 0)
		for (;;)
			pause();
	if (fork() == 0) {
		setsid();
		for (;;)
			pause();
	}
}
static void run(struct context *c, uint64_t n, uint64_t *check)
{
	(void)c; (void)n; (void)check;
	raise(SIGKILL);
}
const struct kernel kernel = {.name = "planted/waits", .setup = setup, .run = run};
