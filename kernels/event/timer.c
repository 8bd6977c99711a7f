/* event/timer/...: cost of setting timers, and expiry latency (POSIX, timer_create() and setitimer(); timerfd_create(2)).
 *
 * One operation of op=set re-arms a timer of one hour before it expires, the usual case of timeouts. op=cycle: create, arm and delete a
 * timer. op=expire: arm a timer of 50 us and wait for it: the excess over 50 us is the latency, including the arming call. by= is posix
 * (SIGEV_SIGNAL), itimer (ITIMER_REAL), timerfd, or sleep (clock_nanosleep, for op=expire only, with the process's timer slack).
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
static int descriptor = -1, timer; /* timer: kernel timer id, since some C libraries have these calls in a separate library */
static struct itimerspec setting;

/* The kernel's struct itimerspec, independent of the C library's types. */
struct kernel_itimerspec {
	long interval[2], value[2]; /* s, ns */
};

static int make_posix(void)
{
	struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};
	return syscall(SYS_timer_create, CLOCK_MONOTONIC, &event, &timer) == 0;
}

static int set_posix(void)
{
	const struct kernel_itimerspec kernel_itimerspec = {.value = {setting.it_value.tv_sec, setting.it_value.tv_nsec}};
	return syscall(SYS_timer_settime, timer, 0, &kernel_itimerspec, NULL) == 0;
}

static int end_posix(void)
{
	return syscall(SYS_timer_delete, timer) == 0;
}

static int wait_signal(void)
{
	siginfo_t info;
	return sigwaitinfo(&awaited, &info) > 0;
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

static int wait_sleep(void)
{
	return clock_nanosleep(CLOCK_MONOTONIC, 0, &setting.it_value, NULL) == 0;
}

static const struct timer_api {
	const char *name;
	int (*make)(void), (*set)(void), (*end)(void), (*wait)(void);
} timer_apis[] = {
	{"posix", make_posix, set_posix, end_posix, wait_signal},
	{"itimer", none, set_itimer, none, wait_signal},
	{"timerfd", make_timerfd, set_timerfd, end_timerfd, wait_timerfd},
	{"sleep", none, none, none, wait_sleep},
};
static const struct timer_api *timer_api;
static enum { SET, CYCLE, EXPIRE } op;

static int parse(struct context *c)
{
	static const char *const names[] = {"set", "cycle", "expire"};
	const char *by = parameter(c, "by", ""), *what = parameter(c, "op", "");
	for (timer_api = timer_apis; timer_api < timer_apis + sizeof timer_apis / sizeof *timer_apis && strcmp(by, timer_api->name) != 0; timer_api++)
		;
	for (op = SET; op <= EXPIRE && strcmp(what, names[op]) != 0; op++)
		;
	if (timer_api < timer_apis + sizeof timer_apis / sizeof *timer_apis && op <= EXPIRE)
		return 1;
	wrong_arguments(c, "by=%s is not posix, itimer, timerfd or sleep, or op=%s is not set, cycle or expire", by,
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
	if (op != CYCLE && !timer_api->make())
		failed(c, "timer_create");
}

static void run(struct context *c, uint64_t n, uint64_t *check)
{
	for (uint64_t i = 0; i < n; i++) {
		if ((op == CYCLE && !timer_api->make()) || !timer_api->set() || (op == CYCLE && !timer_api->end()) || (op == EXPIRE && !timer_api->wait())) {
			failed(c, "timer");
			return;
		}
		++*check;
	}
}

static int64_t seconds_left(void)
{
	struct itimerspec left = {0};
	struct itimerval itimer;
	struct kernel_itimerspec kernel_itimerspec;
	if (timer_api->set == set_itimer && getitimer(ITIMER_REAL, &itimer) == 0)
		return itimer.it_value.tv_sec;
	if (timer_api->set == set_posix && syscall(SYS_timer_gettime, timer, &kernel_itimerspec) == 0)
		return kernel_itimerspec.value[0];
	if (timer_api->set == set_timerfd && timerfd_gettime(descriptor, &left) == 0)
		return left.it_value.tv_sec;
	return 0;
}

/* The timer must still be armed, with nearly the full time left. */
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
