/* kernel/sigmask: the cost of blocking and unblocking a signal. Table 4.3 of hp-1987 has no such benchmark.
 *
 * One operation is one rt_sigprocmask that blocks or unblocks a signal, in turn, and returns the previous mask. The call
 * bypasses the library, which leaves two of its own signals out of every mask.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../runtime/kernel.h"

#define BIT ((uint64_t)1 << (SIGUSR1 - 1)) /* of SIGUSR1 in a mask of the kernel */

static uint64_t before;

static void setup(struct context *c)
{
	if (syscall(SYS_rt_sigprocmask, SIG_BLOCK, NULL, &before, sizeof before) != 0)
		failed(c, "rt_sigprocmask");
	before &= ~BIT;
}

/* Every second operation finds the signal blocked by its predecessor. */
static void run(struct context *c, uint64_t n, uint64_t *check)
{
	for (uint64_t i = 0; i < n; i++) {
		uint64_t mask = i % 2 == 0 ? before | BIT : before, old = 0;
		if (syscall(SYS_rt_sigprocmask, SIG_SETMASK, &mask, &old, sizeof mask) != 0) {
			failed(c, "rt_sigprocmask");
			return;
		}
		*check += (old & BIT) != 0;
	}
}

static void finish(struct context *c, uint64_t n, uint64_t *check)
{
	(void)n;
	(void)check;
	if (syscall(SYS_rt_sigprocmask, SIG_SETMASK, &before, NULL, sizeof before) != 0)
		failed(c, "rt_sigprocmask");
}

static uint64_t expect(struct context *c, uint64_t n)
{
	(void)c;
	return n / 2;
}

const struct kernel kernel = {
	.name = "kernel/sigmask", .setup = setup, .run = run, .finish = finish, .expect = expect};
