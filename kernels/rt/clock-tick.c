/* rt/clock-tick: what one tick of the system's clock takes from the program that it interrupts (hp-1987, table 5.1, clock overhead).
 *
 * One operation is one tick. For n periods of the tick this process does nothing but read the time; a turn of its loop that takes several times
 * the shortest is a gap, kept with its readings before and after. Ticks come at one phase of their period, gaps of other causes at any:
 * so the gaps of the phase that has most are the ticks. That time has the interrupt in it, all that the kernel does at its end, and one
 * reading.
 */
#define _GNU_SOURCE
#include <time.h>

#include "../runtime/kernel.h"

#define MOST_GAPS 4096
#define MOST_TICKS 1024
#define PHASES 64
#define TURNS 10000
#define SHORTEST_GAP 400 /* ns */

static uint64_t period, least;
static struct {
	uint64_t start, end;
} gap[MOST_GAPS];
static unsigned gaps;

static uint64_t ns_of(struct timespec t)
{
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* The clock that ticks are timed by, and not the one of the runtime: it drifts from them. */
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
	if (clock_getres(CLOCK_MONOTONIC_COARSE, &coarse) != 0) { /* it is set at each tick */
		failed(c, "clock_getres");
		return;
	}
	period = ns_of(coarse);
	for (uint64_t i = 0, before = read_time(); i < TURNS; i++) {
		uint64_t time = read_time();
		if (time > before && time - before < shortest)
			shortest = time - before;
		before = time;
	}
	least = 4 * shortest > SHORTEST_GAP ? 4 * shortest : SHORTEST_GAP;
	if (period < 100 * least)
		skip(c, "The clock of this system is too coarse to see its ticks: it takes %u ns to read.", (unsigned)shortest);
	note(c, "tick_us", "%u", (unsigned)(period / 1000));
	note(c, "gap_ns", "at least %u", (unsigned)least);
}

static void run(struct context *c, uint64_t n, uint64_t *check)
{
	uint64_t before = read_time(), end = before + n * period;
	(void)c;
	(void)check;
	gaps = 0;
	while (before < end) {
		uint64_t time = read_time();
		if (time - before >= least && gaps < MOST_GAPS) {
			gap[gaps].start = before;
			gap[gaps++].end = time;
		}
		before = time;
	}
}

static unsigned phase_of(unsigned g)
{
	return (unsigned)(gap[g].start % period * PHASES / period);
}

/* The first of the two neighboring phases that have most gaps: one tick may fall on either side of a border. */
static unsigned phase_of_ticks(void)
{
	unsigned count[PHASES] = {0}, best = 0;
	for (unsigned g = 0; g < gaps; g++)
		count[phase_of(g)]++;
	for (unsigned p = 0; p < PHASES; p++)
		if (count[p] + count[(p + 1) % PHASES] > count[best] + count[(best + 1) % PHASES])
			best = p;
	return best;
}

/* A gap of half a period and more is another process, which a tick may have put in our place. The check value is n where at least
 * half as many ticks were seen as there were periods in which this process ran, but for a few at its ends. */
static void finish(struct context *c, uint64_t n, uint64_t *check)
{
	unsigned phase = phase_of_ticks();
	uint64_t ticks = 0, away = 0;
	for (unsigned g = 0; g < gaps; g++) {
		uint64_t length = gap[g].end - gap[g].start;
		int is_tick = phase_of(g) == phase || phase_of(g) == (phase + 1) % PHASES;
		if (length >= period / 2)
			away += length;
		else if (is_tick)
			record(c, gap[g].start, gap[g].end);
		ticks += (uint64_t)is_tick;
	}
	uint64_t periods = away < n * period ? n - away / period : 0;
	if (periods >= 16 && 8 * ticks < periods)
		skip(c, "Only %u ticks were seen in %u periods: none comes to a CPU of nohz_full= that one process has, and other "
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
	.max_n = MOST_TICKS,
};
