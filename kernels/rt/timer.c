/* rt/driver-latency, rt/user-latency, rt/interrupt-latency: latency from a timer's expiry to its handler and to a waiting process (hp-1987,
 * tables 5.2 to 5.4).
 *
 * The document used an external signal and a logic analyzer; here the event is a kernel timer with a known expiry time, and the analyzer is
 * the kernel's trace. One operation is one expiry, every interval_us= at fixed times, independent of earlier delays (no coordinated
 * omission). of=driver: from the programmed time to the start of the timer's handler. of=user: to the return of this process, at
 * SCHED_FIFO, from its sleep. of=interrupt: from the start of the interrupt vector to the start of the handler; the interval includes the
 * cost of the first of the two trace events. With a trace, the cause of the longest latency is noted.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <time.h>

#include "latency_cause.h"
#include "realtime.h"

#define MAX_TIMERS 4096

static enum { DRIVER, USER, INTERRUPT } target;
static uint64_t interval;
static struct {
	uint64_t set, woken, end; /* CLOCK_MONOTONIC, ns */
} timer[MAX_TIMERS];
static int traced;

/* Trace events cost time, so each variant enables only those it needs: the last two would be inside the others' intervals. */
enum { STARTED = CAUSE_EVENTS, EXPIRED, VECTOR };
static const int spec_count[] = {[USER] = CAUSE_EVENTS, [DRIVER] = EXPIRED + 1, [INTERRUPT] = VECTOR + 1};
static struct event_spec event_spec[] = {
	CAUSE_EVENT_SPECS,
	[STARTED] = {.event = "timer/hrtimer_start", .number = {"hrtimer", "softexpires"}},
	[EXPIRED] = {.event = "timer/hrtimer_expire_entry", .number = {"hrtimer", "now"}},
	[VECTOR] = {.event = "irq_vectors/local_timer_entry"},
};

static void setup(struct context *c)
{
	static const char *const names[] = {"driver", "user", "interrupt"};
	const char *name = parameter(c, "of", "");
	while (target < INTERRUPT && strcmp(name, names[target]) != 0)
		target++;
	if (strcmp(name, names[target]) != 0)
		wrong_arguments(c, "of=%s is not driver, user or interrupt", name);
	interval = parameter_u64(c, "interval_us", 1000) * 1000;
	if (interval == 0 || interval > 1000000000)
		wrong_arguments(c, "interval_us= is not between 1 and 1000000");
	traced = target != USER || trace_available(c);
	if (!traced)
		note(c, "remark", "The cause of the longest latencies is unknown, since there is no trace: %s.", parameter(c, "untraced", "none was made"));
	if (traced)
		trace_open(c, event_spec, spec_count[target], sched_getcpu());
	become_realtime(c);
}

static void prepare(struct context *c, uint64_t n)
{
	(void)n;
	if (traced)
		trace_begin(c);
}

static uint64_t now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void run(struct context *c, uint64_t n, uint64_t *check)
{
	uint64_t next = now(), in_time = 0;
	for (uint64_t i = 0; i < n; i++) {
		next += interval;
		const struct timespec until = {(time_t)(next / 1000000000), (long)(next % 1000000000)};
		int error = clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
		timer[i].woken = now();
		timer[i].set = next;
		if (error != 0) {
			failed_because(c, "clock_nanosleep", "%s", strerror(error));
			return;
		}
		in_time += timer[i].woken >= next;
	}
	*check = in_time;
}

/* Finds the handler of each timer by its programmed time and address. Returns how many have a handler that started after that time, and
 * after the time that the handler itself read. */
static uint64_t find_handlers(uint64_t n)
{
	uint64_t found = 0, vector = 0, timer_address = 0;
	int started = 0;
	for (size_t i = 0; i < trace.count && found < n; i++) {
		const struct event *e = &trace.events[i];
		if (e->kind == VECTOR)
			vector = e->ns;
		if (e->kind == STARTED && e->number[1] == timer[found].set) {
			timer_address = e->number[0];
			started = 1;
		}
		if (e->kind != EXPIRED || !started || e->number[0] != timer_address)
			continue;
		if (e->number[1] < timer[found].set || e->ns < e->number[1])
			return found;
		if (target == INTERRUPT && vector == 0)
			return found;
		/* start of the reported interval */
		timer[found].woken = target == INTERRUPT ? vector : timer[found].set;
		timer[found++].end = e->ns;
		started = 0;
	}
	return found;
}

static void finish(struct context *c, uint64_t n, uint64_t *check)
{
	int longest = -1;
	if (traced)
		trace_end(c);
	if (target != USER)
		*check = find_handlers(n);
	for (uint64_t i = 0; i < *check; i++) {
		uint64_t from = target == USER ? timer[i].set : timer[i].woken;
		uint64_t to = target == USER ? timer[i].woken : timer[i].end;
		if (record(c, from, to))
			longest = (int)i;
		timer[i].set = from;
		timer[i].end = to;
	}
	/* the duration of an interrupt is its own cause */
	if (traced && target != INTERRUPT && longest >= 0)
		note_latency_cause(c, timer[longest].set, timer[longest].end, target == DRIVER);
}

static uint64_t expect(struct context *c, uint64_t n)
{
	(void)c;
	return n;
}

static void teardown(struct context *c)
{
	if (traced)
		trace_close(c);
}

const struct kernel kernel = {
	.name = "rt/timer",
	.setup = setup,
	.prepare = prepare,
	.run = run,
	.finish = finish,
	.expect = expect,
	.teardown = teardown,
	.max_n = MAX_TIMERS,
};
