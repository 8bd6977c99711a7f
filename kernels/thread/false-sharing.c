/* thread/false-sharing/...: two threads on two CPUs, each of which atomically increments its own counter. One operation is one increment by
 * each. lie=together: the counters share a cache line, which bounces between the CPUs (false sharing); lie=apart: separate cache lines.
 */
#define _GNU_SOURCE
#include "team.h"

static _Alignas(CACHE_LINE_GAP) _Atomic uint64_t counters[2 * CACHE_LINE_GAP / sizeof(uint64_t)];
static _Alignas(CACHE_LINE_GAP) uint64_t operations;
static size_t distance;

static void work(unsigned member)
{
	_Atomic uint64_t *counter = &counters[member * distance];
	for (uint64_t i = operations; i > 0; i--)
		atomic_fetch_add_explicit(counter, 1, memory_order_relaxed);
}

static void setup(struct context *c)
{
	const char *layout = parameter(c, "lie", "");
	distance = strcmp(layout, "apart") == 0 ? CACHE_LINE_GAP / sizeof(uint64_t) : 1;
	if (distance == 1 && strcmp(layout, "together") != 0)
		wrong_arguments(c, "lie=%s is neither apart nor together", layout);
	else if (team_cpus(c) < 2)
		skip(c, "two concurrent threads take two CPUs, and this process may use one");
	else
		team_start(c, 2, work);
}

static void prepare(struct context *c, uint64_t n)
{
	(void)c;
	operations = n;
	atomic_store(&counters[0], 0);
	atomic_store(&counters[distance], 0);
	team_prepare();
}

static void run(struct context *c, uint64_t n, uint64_t *check)
{
	(void)c;
	(void)n;
	team_go();
	work(0);
	team_join();
	*check = atomic_load(&counters[0]) + atomic_load(&counters[distance]);
}

static uint64_t expect(struct context *c, uint64_t n)
{
	(void)c;
	return 2 * n;
}

const struct kernel kernel = {
	.name = "thread/false-sharing",
	.setup = setup,
	.prepare = prepare,
	.run = run,
	.finish = team_finish,
	.expect = expect,
};
