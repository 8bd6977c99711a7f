/* Planted: a fork, a sleep and a wait an operation. The child ends while its parent sleeps: by itself that does not wake
 * the parent, but under a tracer the sleep is interrupted and entered again. */
#define _GNU_SOURCE
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "../runtime/kernel.h"
static void run(struct context *c, uint64_t n, uint64_t *check)
{
	for (uint64_t i = 0; i < n; i++) {
		struct timespec t = {0, 5000000};
		int status;
		pid_t pid = fork();
		if (pid == 0) {
			for (int j = 0; j < 10; j++)
				syscall(SYS_getppid);
			_exit(0);
		}
		nanosleep(&t, NULL);
		if (waitpid(pid, &status, 0) != pid)
			failed(c, "waitpid");
		*check += status == 0;
	}
}
static uint64_t expect(struct context *c, uint64_t n) { (void)c; return n; }
const struct kernel kernel = {.name = "planted/parents", .run = run, .expect = expect};
