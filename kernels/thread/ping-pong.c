/* thread/ping-pong: cache-line transfer latency between two CPUs, for every pair of CPUs.
 *
 * One operation is a round trip: the first thread writes a number, the second reads it and writes the next, the first reads that. Each
 * region has one pair, noted before it (`pair=0-1`); a region with the same number of operations as the previous one moves to the next
 * pair. So calibration, which changes n, stays with one pair while it compares times, and the samples of a launch cover all pairs. The first pair of a launch is random, so that with more pairs than samples the launches together cover all.
 */
#define _GNU_SOURCE
#include "team.h"

static _Alignas(CACHE_LINE_GAP) _Atomic uint64_t line_value;
static _Alignas(CACHE_LINE_GAP) uint64_t round_trips, replies;
static unsigned cpus;
static uint64_t pairs, pair, previous_n;

/* The second thread; the main thread is member 0. */
static void reply_all(unsigned member)
{
	uint64_t n = round_trips;
	(void)member;
	for (uint64_t i = 0; i < n; i++) {
		while (atomic_load_explicit(&line_value, memory_order_acquire) != 2 * i + 1)
			;
		atomic_store_explicit(&line_value, 2 * i + 2, memory_order_release);
	}
	replies = n;
}

static void setup(struct context *c)
{
	cpus = team_cpus(c);
	if (cpus < 2) {
		skip(c, "a pair takes two CPUs, and this process may use one");
		return;
	}
	pairs = (uint64_t)cpus * (cpus - 1) / 2;
	pair = now_ns() % pairs;
	note(c, "pairs", "%lu", (unsigned long)pairs);
	team_start(c, 2, reply_all);
}

/* Enumerates (0,1) (0,2) ... (1,2) ... */
static void pair_members(unsigned *first, unsigned *second)
{
	uint64_t left = pair;
	for (*first = 0; left >= cpus - 1 - *first; ++*first)
		left -= cpus - 1 - *first;
	*second = *first + 1 + (unsigned)left;
}

static void prepare(struct context *c, uint64_t n)
{
	unsigned first, second;
	if (n == previous_n)
		pair = (pair + 1) % pairs;
	previous_n = n;
	pair_members(&first, &second);
	note(c, "pair", "%d-%d", team.cpu[first], team.cpu[second]);
	pin(c, team.cpu[first]);
	const struct cpu_mask mask = mask_of_cpu(team.cpu[second]);
	errno = pthread_setaffinity_np(team.thread[1], sizeof mask, mask.part);
	if (errno != 0)
		failed(c, "pthread_setaffinity_np");
	atomic_store(&line_value, 0);
	round_trips = n;
	replies = 0;
	team_prepare();
}

static void run(struct context *c, uint64_t n, uint64_t *check)
{
	(void)c;
	team_go();
	for (uint64_t i = 0; i < n; i++) {
		atomic_store_explicit(&line_value, 2 * i + 1, memory_order_release);
		while (atomic_load_explicit(&line_value, memory_order_acquire) != 2 * i + 2)
			;
	}
	team_join();
	*check = replies + atomic_load(&line_value);
}

static uint64_t expect(struct context *c, uint64_t n)
{
	(void)c;
	return 3 * n;
}

const struct kernel kernel = {
	.name = "thread/ping-pong",
	.setup = setup,
	.prepare = prepare,
	.run = run,
	.finish = team_finish,
	.expect = expect,
};
