/* event/timer/...: what timers cost that are set, and how long one takes that is waited for (POSIX, timer_create() and setitimer();
 * timerfd_create(2)).
 *
 * One operation of op=set is one call that sets a timer, of an hour, anew before it has expired, which is what most timers are for.
 * Of op=cycle: make a timer, set it, remove it. Of op=expire: set a timer of 50 us, and wait for it: what the figure is above
 * 50 us is how late a program learns of it, the call that sets it included. by= is posix (SIGEV_SIGNAL), itimer (ITIMER_REAL), timerfd, or
 * sleep (clock_nanosleep, which only expires, and has the slack of the process's other sleeps).
 */
#define _GNU_SOURCE
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "../runtime/kernel.h"

#define EXPIRES_NS 50000
#define HOUR 3600

static sigset_t awaited;
static int descriptor = -1, timer; /* of the kernel: some C libraries keep the calls in a library of their own */
static struct itimerspec setting;

/* What the bare calls take, whatever the C library's types are. */
struct bare {
	long interval[2], value[2]; /* s, ns */
};

static int make_posix(void)
{
	struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};
	return syscall(SYS_timer_create, CLOCK_MONOTONIC, &event, &timer) == 0;
}

static int set_posix(void)
{
	const struct bare bare = {.value = {setting.it_value.tv_sec, setting.it_value.tv_nsec}};
	return syscall(SYS_timer_settime, timer, 0, &bare, NULL) == 0;
}

static int end_posix(void)
{
	return syscall(SYS_timer_delete, timer) == 0;
}

static int wait_signal(void)
{
	siginfo_t told;
	return sigwaitinfo(&awaited, &told) > 0;
}

static int none(void)
{
	return 1;
}

static int set_itimer(void)
{
	const struct itimerval value = {.it_value = {setting.it_value.tv_sec, setting.it_value.tv_nsec / 1000}};
	return setitimer(ITIMER_REAL, &value, NULL) == 0;
}

static int make_timerfd(void)
{
	return (descriptor = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC)) >= 0;
}

static int set_timerfd(void)
{
	return timerfd_settime(descriptor, 0, &setting, NULL) == 0;
}

static int end_timerfd(void)
{
	return close(descriptor) == 0;
}

static int wait_timerfd(void)
{
	uint64_t expired;
	return read(descriptor, &expired, sizeof expired) == sizeof expired && expired == 1;
}

static int wait_asleep(void)
{
	return clock_nanosleep(CLOCK_MONOTONIC, 0, &setting.it_value, NULL) == 0;
}

static const struct way {
	const char *name;
	int (*make)(void), (*set)(void), (*end)(void), (*wait)(void);
} ways[] = {
	{"posix", make_posix, set_posix, end_posix, wait_signal},
	{"itimer", none, set_itimer, none, wait_signal},
	{"timerfd", make_timerfd, set_timerfd, end_timerfd, wait_timerfd},
	{"sleep", none, none, none, wait_asleep},
};
static const struct way *way;
static enum { SET, CYCLE, EXPIRE } op;

static int parse(struct context *c)
{
	static const char *const names[] = {"set", "cycle", "expire"};
	const char *by = parameter(c, "by", ""), *what = parameter(c, "op", "");
	for (way = ways; way < ways + sizeof ways / sizeof *ways && strcmp(by, way->name) != 0; way++)
		;
	for (op = SET; op <= EXPIRE && strcmp(what, names[op]) != 0; op++)
		;
	if (way < ways + sizeof ways / sizeof *ways && op <= EXPIRE)
		return 1;
	wrong_arguments(c, "by=%s is none of posix, itimer, timerfd and sleep, or op=%s none of set, cycle and expire", by,
		       what);
	return 0;
}

static void setup(struct context *c)
{
	if (!parse(c))
		return;
	setting.it_value = op == EXPIRE ? (struct timespec){0, EXPIRES_NS} : (struct timespec){HOUR, 0};
	sigemptyset(&awaited);
	sigaddset(&awaited, SIGUSR1);
	sigaddset(&awaited, SIGALRM);
	if (sigprocmask(SIG_BLOCK, &awaited, NULL) != 0)
		failed(c, "sigprocmask");
	if (op != CYCLE && !way->make())
		failed(c, "timer_create");
}

static void run(struct context *c, uint64_t n, uint64_t *check)
{
	for (uint64_t i = 0; i < n; i++) {
		if ((op == CYCLE && !way->make()) || !way->set() || (op == CYCLE && !way->end()) || (op == EXPIRE && !way->wait())) {
			failed(c, "timer");
			return;
		}
		++*check;
	}
}

/* Seconds until the timer expires. */
static int64_t seconds_left(void)
{
	struct itimerspec left = {0};
	struct itimerval itimer;
	struct bare bare;
	if (way->set == set_itimer && getitimer(ITIMER_REAL, &itimer) == 0)
		return itimer.it_value.tv_sec;
	if (way->set == set_posix && syscall(SYS_timer_gettime, timer, &bare) == 0)
		return bare.value[0];
	if (way->set == set_timerfd && timerfd_gettime(descriptor, &left) == 0)
		return left.it_value.tv_sec;
	return 0;
}

/* A timer that was set runs still, and for nearly as long as it was set for. */
static void finish(struct context *c, uint64_t n, uint64_t *check)
{
	(void)c;
	(void)n;
	if (op == SET && (seconds_left() < HOUR - 60 || seconds_left() > HOUR))
		*check = 0;
}

static uint64_t expect(struct context *c, uint64_t n)
{
	(void)c;
	return n;
}

const struct kernel kernel = {.name = "event/timer", .setup = setup, .run = run, .finish = finish, .expect = expect};
