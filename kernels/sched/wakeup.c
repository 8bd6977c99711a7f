/* sched/wakeup/...: wakeup latency: a process wakes another and sleeps until it is woken by it, while busy= processes compute on the
 * other's CPU. One operation is the round trip; all are recorded, for the tail of the distribution. Without interval_us= the next starts
 * when the previous one ends; with it, operations are due at fixed times, and latency counts from the due time (no coordinated omission).
 *
 * The computing processes run for the whole launch: just after a wakeup the scheduler would treat them as sleepers too. The cycle probe
 * shares the CPU with them; its median is robust against that.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <time.h>

#include "workers.h"

static struct {
	_Atomic uint32_t requests;
	char padding[60]; /* the reply is in another cache line */
	_Atomic uint32_t replies;
} *shared;
static pid_t partner;
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
		while (atomic_load(&shared->requests) == seen)
			futex_wait(&shared->requests, seen);
		atomic_fetch_add(&shared->replies, 1);
		futex_wake_all(&shared->replies);
	}
}

static void setup(struct context *c)
{
	uint64_t busy = parameter_u64(c, "busy", 0);
	interval = parameter_u64(c, "interval_us", 0) * 1000;
	if (interval > 1000000000)
		wrong_arguments(c, "interval_us= is above 1000000");
	if ((shared = shared_memory(c, sizeof *shared)) == NULL)
		return;
	partner = fork_peer(c);
	if (partner == 0)
		serve();
	if (partner < 0)
		failed(c, "fork");
	for (uint64_t i = 0; i < busy; i++)
		add_worker(c, compute);
	start_workers();
	await_workers();
}

/* clock_nanosleep(2) does not support the runtime's CLOCK_MONOTONIC_RAW. */
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
	uint32_t before = atomic_load(&shared->replies);
	uint64_t start = now(), due = start;
	for (uint64_t i = 0; i < n; i++) {
		if (interval != 0) {
			due += interval;
			sleep_until(due);
			start = due;
		}
		uint32_t before_reply = before + (uint32_t)i;
		atomic_fetch_add(&shared->requests, 1);
		futex_wake_all(&shared->requests);
		while (atomic_load(&shared->replies) == before_reply)
			futex_wait(&shared->replies, before_reply);
		uint64_t end = now();
		record(c, start, end);
		start = end;
	}
	*check = atomic_load(&shared->replies) - before;
}

static uint64_t expect(struct context *c, uint64_t n)
{
	(void)c;
	return n;
}

static void teardown(struct context *c)
{
	reap_workers(c);
	if (kill(partner, SIGKILL) != 0 || waitpid(partner, NULL, 0) != partner)
		failed(c, "waitpid");
}

const struct kernel kernel = {
	.name = "sched/wakeup",
	.setup = setup,
	.run = run,
	.expect = expect,
	.teardown = teardown,
};
