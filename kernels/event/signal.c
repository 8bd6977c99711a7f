/* event/signal/...: what signals cost a process that sends them to itself (lmbench-1996, signal handling cost; POSIX, sigaction(),
 * kill() and sigwaitinfo()).
 *
 * One operation is, by how=: install, one rt_sigaction that puts another handler in the place of the last; send, one kill that
 * finds the signal ignored; catch, one kill, the handler, and the return from it; wait, one kill of a signal that is
 * blocked, and one sigtimedwait that accepts it; signalfd, the same kill, and one read that accepts it; block, one rt_sigprocmask that
 * blocks or unblocks a signal in turn.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "../runtime/kernel.h"

static volatile uint64_t caught;
static sigset_t one; /* SIGUSR1 */
static pid_t self;
static int descriptor = -1;

static void on_signal(int signal)
{
	(void)signal;
	caught++;
}

static void another(int signal)
{
	(void)signal;
}

static void install(struct context *c, uint64_t n, uint64_t *check)
{
	const struct sigaction actions[2] = {{.sa_handler = on_signal}, {.sa_handler = another}};
	struct sigaction old;
	if (sigaction(SIGUSR1, &actions[1], NULL) != 0)
		failed(c, "sigaction");
	for (uint64_t i = 0; i < n; i++) {
		if (sigaction(SIGUSR1, &actions[i & 1], &old) != 0) {
			failed(c, "sigaction");
			return;
		}
		*check += old.sa_handler == actions[~i & 1].sa_handler;
	}
}

static void block(struct context *c, uint64_t n, uint64_t *check)
{
	sigset_t old;
	for (uint64_t i = 0; i < n; i++) {
		if (sigprocmask(i & 1 ? SIG_UNBLOCK : SIG_BLOCK, &one, &old) != 0) {
			failed(c, "sigprocmask");
			return;
		}
		*check += sigismember(&old, SIGUSR1) == (int)(i & 1);
	}
	if (n & 1)
		sigprocmask(SIG_UNBLOCK, &one, NULL);
}

static void ignore(struct context *c, uint64_t n, uint64_t *check)
{
	for (uint64_t i = 0; i < n; i++) {
		if (kill(self, SIGUSR1) != 0) {
			failed(c, "kill");
			return;
		}
		++*check;
	}
}

static void catch(struct context *c, uint64_t n, uint64_t *check)
{
	caught = 0;
	for (uint64_t i = 0; i < n; i++)
		if (kill(self, SIGUSR1) != 0) {
			failed(c, "kill");
			return;
		}
	*check = caught;
}

static void accept_it(struct context *c, uint64_t n, uint64_t *check)
{
	const struct timespec none = {0, 0};
	for (uint64_t i = 0; i < n; i++) {
		siginfo_t told;
		if (kill(self, SIGUSR1) != 0 || sigtimedwait(&one, &told, &none) != SIGUSR1) {
			failed(c, "sigtimedwait");
			return;
		}
		*check += told.si_pid == self;
	}
}

static void read_it(struct context *c, uint64_t n, uint64_t *check)
{
	for (uint64_t i = 0; i < n; i++) {
		struct signalfd_siginfo told;
		if (kill(self, SIGUSR1) != 0 || read(descriptor, &told, sizeof told) != sizeof told) {
			failed(c, "read");
			return;
		}
		*check += told.ssi_signo == SIGUSR1 && told.ssi_pid == (uint32_t)self;
	}
}

static const struct {
	const char *name;
	void (*run)(struct context *, uint64_t, uint64_t *);
	void (*handler)(int);
	int blocked;
} ways[] = {
	{"install", install, on_signal, 0},
	{"block", block, on_signal, 0},
	{"send", ignore, SIG_IGN, 0},
	{"catch", catch, on_signal, 0},
	{"wait", accept_it, SIG_DFL, 1},
	{"signalfd", read_it, SIG_DFL, 1},
};
static size_t way;

static void setup(struct context *c)
{
	const char *how = parameter(c, "how", "");
	const size_t all = sizeof ways / sizeof *ways;
	while (way < all && strcmp(how, ways[way].name) != 0)
		way++;
	if (way == all)
		wrong_arguments(c, "how=%s is nothing that is done with signals here", how);
	self = getpid();
	sigemptyset(&one);
	sigaddset(&one, SIGUSR1);
	const struct sigaction action = {.sa_handler = ways[way].handler};
	if (sigaction(SIGUSR1, &action, NULL) != 0 || (ways[way].blocked && sigprocmask(SIG_BLOCK, &one, NULL) != 0))
		failed(c, "sigaction");
	if (ways[way].run == read_it && (descriptor = signalfd(-1, &one, SFD_CLOEXEC)) < 0)
		failed(c, "signalfd");
}

static void run(struct context *c, uint64_t n, uint64_t *check)
{
	ways[way].run(c, n, check);
}

static uint64_t expect(struct context *c, uint64_t n)
{
	(void)c;
	return n;
}

const struct kernel kernel = {.name = "event/signal", .setup = setup, .run = run, .expect = expect};
