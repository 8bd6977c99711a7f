/* Planted: forks, and leaves a child behind in a session of its own that holds nothing open. */
#include <unistd.h>
#include "../runtime/kernel.h"
static void run(struct context *c, uint64_t n, uint64_t *check)
{
	(void)c; (void)n; (void)check;
	if (fork() == 0) {
		setsid();
		for (int i = 0; i < 64; i++)
			close(i);
		for (;;)
			pause();
	}
	_exit(0);
}
const struct kernel kernel = {.name = "planted/leaves", .run = run};
