/* event/signal/...: cost of signals that a process sends to itself (lmbench-1996, signal handling cost; POSIX, sigaction(), kill() and
 * sigwaitinfo()).
 *
 * One operation is, by how=: install, one rt_sigaction that replaces the handler; send, one kill of an ignored signal; catch, one kill, the
 * handler, and its return; wait, one kill of a blocked signal, and one sigtimedwait that accepts it; signalfd, the same kill, and one read
 * that accepts it; block, one rt_sigprocmask that alternately blocks and unblocks a signal.
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

static void other_handler(int signal)
{
	(void)signal;
}

static void install(struct context *c, uint64_t n, uint64_t *check)
{
	const struct sigaction actions[2] = {{.sa_handler = on_signal}, {.sa_handler = other_handler}};
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

static void accept_signal(struct context *c, uint64_t n, uint64_t *check)
{
	const struct timespec none = {0, 0};
	for (uint64_t i = 0; i < n; i++) {
		siginfo_t info;
		if (kill(self, SIGUSR1) != 0 || sigtimedwait(&one, &info, &none) != SIGUSR1) {
			failed(c, "sigtimedwait");
			return;
		}
		*check += info.si_pid == self;
	}
}

static void read_signalfd(struct context *c, uint64_t n, uint64_t *check)
{
	for (uint64_t i = 0; i < n; i++) {
		struct signalfd_siginfo info;
		if (kill(self, SIGUSR1) != 0 || read(descriptor, &info, sizeof info) != sizeof info) {
			failed(c, "read");
			return;
		}
		*check += info.ssi_signo == SIGUSR1 && info.ssi_pid == (uint32_t)self;
	}
}

static const struct {
	const char *name;
	void (*run)(struct context *, uint64_t, uint64_t *);
	void (*handler)(int);
	int blocked;
} methods[] = {
	{"install", install, on_signal, 0},
	{"block", block, on_signal, 0},
	{"send", ignore, SIG_IGN, 0},
	{"catch", catch, on_signal, 0},
	{"wait", accept_signal, SIG_DFL, 1},
	{"signalfd", read_signalfd, SIG_DFL, 1},
};
static size_t method;

static void setup(struct context *c)
{
	const char *how = parameter(c, "how", "");
	const size_t all = sizeof methods / sizeof *methods;
	while (method < all && strcmp(how, methods[method].name) != 0)
		method++;
	if (method == all)
		wrong_arguments(c, "unknown how=%s", how);
	self = getpid();
	sigemptyset(&one);
	sigaddset(&one, SIGUSR1);
	const struct sigaction action = {.sa_handler = methods[method].handler};
	if (sigaction(SIGUSR1, &action, NULL) != 0 || (methods[method].blocked && sigprocmask(SIG_BLOCK, &one, NULL) != 0))
		failed(c, "sigaction");
	if (methods[method].run == read_signalfd && (descriptor = signalfd(-1, &one, SFD_CLOEXEC)) < 0)
		failed(c, "signalfd");
}

static void run(struct context *c, uint64_t n, uint64_t *check)
{
	methods[method].run(c, n, check);
}

static uint64_t expect(struct context *c, uint64_t n)
{
	(void)c;
	return n;
}

const struct kernel kernel = {.name = "event/signal", .setup = setup, .run = run, .expect = expect};
