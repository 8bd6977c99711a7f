/* sched/wakeup/...: a process wakes another and sleeps until it is woken by that, while busy= processes compute on the CPU of the
 * other. One operation is the round trip; each is recorded, since it is the long ones that are felt. Without interval_us= the next
 * begins when the last has ended; with it, each is due at an absolute time, so much after the one before, and takes from then until the
 * answer, so that a delay counts for all that it delays.
 *
 * Those who compute do so from the beginning to the end of a launch: when they have just been woken, the scheduler treats them as
 * sleepers too. The cycle probe has to share the CPU with them, and its median stands that.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <time.h>

#include "workers.h"

static struct {
	_Atomic uint32_t asked;
	char apart[60]; /* the other's in another cache line */
	_Atomic uint32_t answered;
} *both;
static pid_t other;
static uint64_t interval;

static void compute(unsigned number)
{
	(void)number;
	while (!workers_stopping())
		;
}

static _Noreturn void serve(void)
{
	for (uint32_t seen = 0;; seen++) {
		while (atomic_load(&both->asked) == seen)
			futex_wait(&both->asked, seen);
		atomic_fetch_add(&both->answered, 1);
		futex_wake_all(&both->answered);
	}
}

static void setup(struct context *c)
{
	uint64_t busy = parameter_u64(c, "busy", 0);
	interval = parameter_u64(c, "interval_us", 0) * 1000;
	if (interval > 1000000000)
		wrong_arguments(c, "interval_us= is above 1000000");
	if ((both = shared_memory(c, sizeof *both)) == NULL)
		return;
	other = fork_peer(c);
	if (other == 0)
		serve();
	if (other < 0)
		failed(c, "fork");
	for (uint64_t i = 0; i < busy; i++)
		add_worker(c, compute);
	start_workers();
	await_workers();
}

/* Of the clock that can be slept on. */
static uint64_t now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void sleep_until(uint64_t ns)
{
	const struct timespec until = {(time_t)(ns / 1000000000), (long)(ns % 1000000000)};
	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR)
		;
}

static void run(struct context *c, uint64_t n, uint64_t *check)
{
	uint32_t before = atomic_load(&both->answered);
	uint64_t start = now(), due = start;
	for (uint64_t i = 0; i < n; i++) {
		if (interval != 0) {
			due += interval;
			sleep_until(due);
			start = due;
		}
		uint32_t answered = before + (uint32_t)i;
		atomic_fetch_add(&both->asked, 1);
		futex_wake_all(&both->asked);
		while (atomic_load(&both->answered) == answered)
			futex_wait(&both->answered, answered);
		uint64_t end = now();
		record(c, start, end);
		start = end;
	}
	*check = atomic_load(&both->answered) - before;
}

static uint64_t expect(struct context *c, uint64_t n)
{
	(void)c;
	return n;
}

static void teardown(struct context *c)
{
	reap_workers(c);
	if (kill(other, SIGKILL) != 0 || waitpid(other, NULL, 0) != other)
		failed(c, "waitpid");
}

const struct kernel kernel = {
	.name = "sched/wakeup",
	.setup = setup,
	.run = run,
	.expect = expect,
	.teardown = teardown,
};
