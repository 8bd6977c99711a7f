/* kernel/csw, kernel/signocsw: signals between two processes, and of a process to itself (hp-1987, table 4.3).
 *
 * to=other: one operation is one round trip. A process signals another and sleeps until it is signaled back; the other sleeps, catches the
 * signal and signals back. The reference workload is 10,000 round trips. to=self: one operation is one signal that a process sends to
 * itself by the same calls, so that the two benchmarks differ only by context switches. The reference workload is 10,000 signals.
 *
 * The signal is blocked except in sigsuspend(), which prevents lost wakeups without spinning.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../runtime/kernel.h"

static sigset_t open_mask; /* the mask in sigsuspend() */
static volatile uint64_t caught;
static volatile sig_atomic_t peer_died;
static volatile uint64_t *replies; /* shared with the peer */
static pid_t peer, target;

static void on_signal(int signal)
{
	if (signal == SIGUSR1)
		caught++;
	else
		peer_died = 1;
}

static void catch_signals(struct context *c)
{
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
	sigset_t blocked;
	sigemptyset(&blocked);
	sigaddset(&blocked, SIGUSR1);
	if (sigprocmask(SIG_BLOCK, &blocked, &open_mask) != 0)
		failed(c, "sigprocmask");
	sigdelset(&open_mask, SIGUSR1);
	sigdelset(&open_mask, SIGCHLD);
	if (sigaction(SIGUSR1, &action, NULL) != 0 || sigaction(SIGCHLD, &action, NULL) != 0)
		failed(c, "sigaction");
}

static _Noreturn void reply_to_signals(pid_t sender)
{
	for (uint64_t handled = 0;; handled++) {
		while (caught == handled)
			sigsuspend(&open_mask);
		++*replies;
		if (kill(sender, SIGUSR1) != 0)
			_exit(1);
	}
}

static void setup(struct context *c)
{
	const char *to = parameter(c, "to", "");
	pid_t self = getpid();
	target = self;
	catch_signals(c);
	if (strcmp(to, "self") == 0)
		return;
	if (strcmp(to, "other") != 0)
		wrong_arguments(c, "to=%s is neither self nor other", to);
	replies = mmap(NULL, sizeof *replies, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (replies == MAP_FAILED) {
		failed(c, "mmap");
		return;
	}
	peer = fork_peer(c);
	if (peer == 0)
		reply_to_signals(self);
	if (peer < 0)
		failed(c, "fork");
	target = peer;
}

static void prepare(struct context *c, uint64_t n)
{
	(void)c;
	(void)n;
	caught = 0;
	if (peer != 0)
		*replies = 0;
}

static void run(struct context *c, uint64_t n, uint64_t *check)
{
	for (uint64_t i = 0; i < n; i++) {
		if (kill(target, SIGUSR1) != 0) {
			failed(c, "kill");
			return;
		}
		while (caught == i && !peer_died)
			sigsuspend(&open_mask);
		if (peer_died) {
			failed_because(c, "sigsuspend", "the replying process has exited");
			return;
		}
	}
	*check = caught;
}

static void finish(struct context *c, uint64_t n, uint64_t *check)
{
	(void)c;
	(void)n;
	if (peer != 0)
		*check += *replies;
}

static uint64_t expect(struct context *c, uint64_t n)
{
	(void)c;
	return peer != 0 ? 2 * n : n;
}

static void teardown(struct context *c)
{
	if (peer != 0 && (kill(peer, SIGKILL) != 0 || waitpid(peer, NULL, 0) != peer))
		failed(c, "waitpid");
}

const struct kernel kernel = {
	.name = "kernel/signal",
	.setup = setup,
	.prepare = prepare,
	.run = run,
	.finish = finish,
	.expect = expect,
	.teardown = teardown,
};
