/* aim/fork: process creation (hp-1987, appendix A, test 04; table 4.1, forks).
 *
 * One operation is one fork() whose child exits at once, and the wait for it: what a shell does for every command, except exec. The parent
 * waits for each child before the next, so that there are never more than two processes.
 */
#include <sys/wait.h>
#include <unistd.h>

#include "../runtime/kernel.h"

#define STATUS 3 /* exit status of the child */

static void run(struct context *c, uint64_t n, uint64_t *check)
{
	for (uint64_t i = 0; i < n; i++) {
		int status;
		pid_t child = fork();
		if (child == 0)
			_exit(STATUS);
		if (child < 0) {
			failed(c, "fork");
			return;
		}
		if (waitpid(child, &status, 0) != child) {
			failed(c, "waitpid");
			return;
		}
		*check += WIFEXITED(status) && WEXITSTATUS(status) == STATUS;
	}
}

static uint64_t expect(struct context *c, uint64_t n)
{
	(void)c;
	return n;
}

const struct kernel kernel = {.name = "aim/fork", .run = run, .expect = expect};
