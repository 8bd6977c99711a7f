/* Planted: measures as it should, but leaves a child of a child behind. */
#include <time.h>
#include <unistd.h>
#include <sys/wait.h>
#include "../runtime/kernel.h"
static void setup(struct context *c)
{
	(void)c;
	if (fork() == 0) {
		setsid();
		if (fork() == 0)
			for (;;)
				pause();
		_exit(0);
	}
	wait(0);
}
static void run(struct context *c, uint64_t n, uint64_t *check)
{
	(void)c;
	for (uint64_t i = 0; i < n; i++) {
		struct timespec t = {0, 10000};
		nanosleep(&t, 0);
	}
	*check = n;
}
static uint64_t expect(struct context *c, uint64_t n) { (void)c; return n; }
const struct kernel kernel = {.name = "planted/abandons", .setup = setup, .run = run, .expect = expect};
