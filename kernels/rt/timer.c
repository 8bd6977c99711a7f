/* rt/driver-latency, rt/user-latency, rt/interrupt-latency: from a timer to those who wait for it (hp-1987, tables 5.2 to 5.4).
 *
 * The document had a signal from outside and a logic analyser; here the event is a timer of the kernel, which expires at a time that
 * was set beforehand, and the analyser is the kernel's own trace. One operation is one expiry, every interval_us=, at absolute
 * times: each is the one before plus the interval, however late that one was, so that what a delay hides is counted.
 * of=driver: from the time that was set to the first line of the timer's handler. of=user: to the first line of
 * this process after its sleep, at SCHED_FIFO. of=interrupt: from the first line behind the interrupt vector to
 * that of the handler; of the two stamps the first is taken within that time, and its cost is in it.
 * Where there is a trace, it is asked what went on during the longest latency.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <time.h>

#include "latency_cause.h"
#include "realtime.h"

#define MOST 4096

static enum { DRIVER, USER, INTERRUPT } of;
static uint64_t interval;
static struct {
	uint64_t set, woken, end; /* CLOCK_MONOTONIC, ns */
} timer[MOST];
static int traced;

/* Stamps cost time, so that no row asks for more than it needs: those of the last two are within what others measure. */
enum { STARTED = EXPLAINING, EXPIRED, VECTOR };
static const int asked_for[] = {[USER] = EXPLAINING, [DRIVER] = EXPIRED + 1, [INTERRUPT] = VECTOR + 1};
static struct wanted wanted[] = {
	EXPLAINING_EVENTS,
	[STARTED] = {.event = "timer/hrtimer_start", .number = {"hrtimer", "softexpires"}},
	[EXPIRED] = {.event = "timer/hrtimer_expire_entry", .number = {"hrtimer", "now"}},
	[VECTOR] = {.event = "irq_vectors/local_timer_entry"},
};

static void setup(struct context *c)
{
	static const char *const names[] = {"driver", "user", "interrupt"};
	const char *name = parameter(c, "of", "");
	while (of < INTERRUPT && strcmp(name, names[of]) != 0)
		of++;
	if (strcmp(name, names[of]) != 0)
		wrong_arguments(c, "of=%s is none of driver, user and interrupt", name);
	interval = parameter_u64(c, "interval_us", 1000) * 1000;
	if (interval == 0 || interval > 1000000000)
		wrong_arguments(c, "interval_us= is not between 1 and 1000000");
	traced = of != USER || trace_is_there(c);
	if (!traced)
		note(c, "remark", "What the longest events were due to is not known, since there is no trace: %s.", parameter(c, "untraced", "none was made"));
	if (traced)
		trace_open(c, wanted, asked_for[of], sched_getcpu());
	go_realtime(c);
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

/* Finds the handler of each timer: by the time for which it was started, and the timer that it was started as. How many
 * were found whose handler began after that time, and after the clock that the handler saw. */
static uint64_t find_handlers(uint64_t n)
{
	uint64_t found = 0, vector = 0, its = 0;
	int started = 0;
	for (size_t i = 0; i < trace.count && found < n; i++) {
		const struct event *e = &trace.events[i];
		if (e->kind == VECTOR)
			vector = e->ns;
		if (e->kind == STARTED && e->number[1] == timer[found].set) {
			its = e->number[0];
			started = 1;
		}
		if (e->kind != EXPIRED || !started || e->number[0] != its)
			continue;
		if (e->number[1] < timer[found].set || e->ns < e->number[1])
			return found;
		if (of == INTERRUPT && vector == 0)
			return found;
		/* what is reported: from here to the handler */
		timer[found].woken = of == INTERRUPT ? vector : timer[found].set;
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
	if (of != USER)
		*check = find_handlers(n);
	for (uint64_t i = 0; i < *check; i++) {
		uint64_t from = of == USER ? timer[i].set : timer[i].woken;
		uint64_t to = of == USER ? timer[i].woken : timer[i].end;
		if (record(c, from, to))
			longest = (int)i;
		timer[i].set = from;
		timer[i].end = to;
	}
	/* an interrupt that is at work has no other cause than itself */
	if (traced && of != INTERRUPT && longest >= 0)
		explain(c, timer[longest].set, timer[longest].end, of == DRIVER);
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
	.max_n = MOST,
};
