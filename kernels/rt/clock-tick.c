/* rt/clock-tick: time that a scheduler tick takes from the interrupted program (hp-1987, table 5.1, clock overhead).
 *
 * One operation is one tick. For n tick periods this process only reads the clock; an iteration that takes several times the minimum is a
 * gap, recorded with the readings before and after. Ticks have a constant phase, gaps of other causes a random one: the gaps at the most
 * frequent phase are the ticks. A gap includes the interrupt, the kernel work at its exit, and one reading.
 */
#define _GNU_SOURCE
#include <time.h>

#include "../runtime/kernel.h"

#define MAX_GAPS 4096
#define MAX_TICKS 1024
#define PHASES 64
#define CALIBRATION_READS 10000
#define MIN_GAP_NS 400 /* ns */

static uint64_t period, threshold;
static struct {
	uint64_t start, end;
} gap[MAX_GAPS];
static unsigned gaps;

static uint64_t ns_of(struct timespec t)
{
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* The clock that times the ticks; the runtime's CLOCK_MONOTONIC_RAW drifts from it. */
static uint64_t read_time(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return ns_of(t);
}

static void setup(struct context *c)
{
	uint64_t shortest = UINT64_MAX;
	struct timespec coarse;
	if (clock_getres(CLOCK_MONOTONIC_COARSE, &coarse) != 0) { /* advances once per tick */
		failed(c, "clock_getres");
		return;
	}
	period = ns_of(coarse);
	for (uint64_t i = 0, before = read_time(); i < CALIBRATION_READS; i++) {
		uint64_t time = read_time();
		if (time > before && time - before < shortest)
			shortest = time - before;
		before = time;
	}
	threshold = 4 * shortest > MIN_GAP_NS ? 4 * shortest : MIN_GAP_NS;
	if (period < 100 * threshold)
		skip(c, "The clock of this system is too slow to see its ticks: reading it takes %u ns.", (unsigned)shortest);
	note(c, "tick_us", "%u", (unsigned)(period / 1000));
	note(c, "gap_ns", "at least %u", (unsigned)threshold);
}

static void run(struct context *c, uint64_t n, uint64_t *check)
{
	uint64_t before = read_time(), end = before + n * period;
	(void)c;
	(void)check;
	gaps = 0;
	while (before < end) {
		uint64_t time = read_time();
		if (time - before >= threshold && gaps < MAX_GAPS) {
			gap[gaps].start = before;
			gap[gaps++].end = time;
		}
		before = time;
	}
}

static unsigned gap_phase(unsigned g)
{
	return (unsigned)(gap[g].start % period * PHASES / period);
}

/* The pair of adjacent phases with the most gaps, since ticks may straddle a border; returns the first. */
static unsigned tick_phase(void)
{
	unsigned count[PHASES] = {0}, best = 0;
	for (unsigned g = 0; g < gaps; g++)
		count[gap_phase(g)]++;
	for (unsigned p = 0; p < PHASES; p++)
		if (count[p] + count[(p + 1) % PHASES] > count[best] + count[(best + 1) % PHASES])
			best = p;
	return best;
}

/* A gap of half a period or more is a preemption. The check value is n if there were at least half as many ticks as periods in which this
 * process ran, with some allowance at both ends. */
static void finish(struct context *c, uint64_t n, uint64_t *check)
{
	unsigned phase = tick_phase();
	uint64_t ticks = 0, descheduled = 0;
	for (unsigned g = 0; g < gaps; g++) {
		uint64_t length = gap[g].end - gap[g].start;
		int is_tick = gap_phase(g) == phase || gap_phase(g) == (phase + 1) % PHASES;
		if (length >= period / 2)
			descheduled += length;
		else if (is_tick)
			record(c, gap[g].start, gap[g].end);
		ticks += (uint64_t)is_tick;
	}
	uint64_t periods = descheduled < n * period ? n - descheduled / period : 0;
	if (periods >= 16 && 8 * ticks < periods)
		skip(c, "Only %u ticks in %u periods: a nohz_full= CPU with a single process has none, and other "
			"interruptions may hide them.",
		     (unsigned)ticks, (unsigned)periods);
	*check = 2 * ticks + 6 >= periods ? n : ticks;
}

static uint64_t expect(struct context *c, uint64_t n)
{
	(void)c;
	return n;
}

const struct kernel kernel = {
	.name = "rt/clock-tick",
	.setup = setup,
	.run = run,
	.finish = finish,
	.expect = expect,
	.max_n = MAX_TICKS,
};
