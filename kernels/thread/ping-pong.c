/* thread/ping-pong: two threads on two CPUs write to one cache line in turn, for every pair of CPUs.
 *
 * One operation is a round trip: the first writes a number, the second sees it and writes the next, the first sees that. Each
 * region is of one pair, named before it (`pair=0-1`); a region with as many operations as the one before it is of the next
 * pair. So calibration, which changes n, is of one pair as long as it compares times, and the samples of a launch go through all
 * pairs: their median is that of the pairs. A launch begins at any of them, so that where there are more pairs than samples,
 * the launches together see all.
 */
#define _GNU_SOURCE
#include "team.h"

static _Alignas(APART) _Atomic uint64_t ball;
static _Alignas(APART) uint64_t wanted, returned;
static unsigned cpus;
static uint64_t pairs, pair, last_n;

/* The other side; the process itself is member 0. */
static void return_all(unsigned member)
{
	uint64_t n = wanted;
	(void)member;
	for (uint64_t i = 0; i < n; i++) {
		while (atomic_load_explicit(&ball, memory_order_acquire) != 2 * i + 1)
			;
		atomic_store_explicit(&ball, 2 * i + 2, memory_order_release);
	}
	returned = n;
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
	team_start(c, 2, return_all);
}

/* Counts through (0,1) (0,2) ... (1,2) ... */
static void players(unsigned *first, unsigned *second)
{
	uint64_t left = pair;
	for (*first = 0; left >= cpus - 1 - *first; ++*first)
		left -= cpus - 1 - *first;
	*second = *first + 1 + (unsigned)left;
}

static void prepare(struct context *c, uint64_t n)
{
	unsigned first, second;
	cpu_set_t one;
	if (n == last_n)
		pair = (pair + 1) % pairs;
	last_n = n;
	players(&first, &second);
	note(c, "pair", "%d-%d", team.cpu[first], team.cpu[second]);
	pin(c, team.cpu[first]);
	CPU_ZERO(&one);
	CPU_SET((size_t)team.cpu[second], &one);
	errno = pthread_setaffinity_np(team.thread[1], sizeof one, &one);
	if (errno != 0)
		failed(c, "pthread_setaffinity_np");
	atomic_store(&ball, 0);
	wanted = n;
	returned = 0;
	team_prepare();
}

static void run(struct context *c, uint64_t n, uint64_t *check)
{
	(void)c;
	team_go();
	for (uint64_t i = 0; i < n; i++) {
		atomic_store_explicit(&ball, 2 * i + 1, memory_order_release);
		while (atomic_load_explicit(&ball, memory_order_acquire) != 2 * i + 2)
			;
	}
	team_join();
	*check = returned + atomic_load(&ball);
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
