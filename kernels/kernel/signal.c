/* kernel/csw, kernel/signocsw: signals between two processes, and of a process to itself (hp-1987, table 4.3).
 *
 * to=other: one operation is one round trip. A process signals another and sleeps until it is signalled back; the other
 * sleeps, catches the signal and signals back. 10,000 round trips are the published work.
 * to=self: one operation is one signal that a process sends to itself, by the very same calls, so that nothing but
 * switching is between the two rows. 10,000 signals are the published work.
 *
 * The signal is blocked except in sigsuspend(): it can neither be lost nor come too early, and nobody spins.
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
static volatile uint64_t *answered; /* shared with the peer */
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

static _Noreturn void answer(pid_t asker)
{
	for (uint64_t seen = 0;; seen++) {
		while (caught == seen)
			sigsuspend(&open_mask);
		++*answered;
		if (kill(asker, SIGUSR1) != 0)
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
	answered = mmap(NULL, sizeof *answered, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (answered == MAP_FAILED) {
		failed(c, "mmap");
		return;
	}
	peer = fork_peer(c);
	if (peer == 0)
		answer(self);
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
		*answered = 0;
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
			failed_because(c, "sigsuspend", "the process that answers has ended");
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
		*check += *answered;
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
