/* thread/false-sharing/...: two threads on two CPUs, each of which adds to a counter of its own, atomically. One operation is one
 * addition by each. lie=together: the counters are neighbors in one cache line, which goes to and fro although nothing is shared;
 * lie=apart: each has lines of its own.
 */
#define _GNU_SOURCE
#include "team.h"

static _Alignas(APART) _Atomic uint64_t counters[2 * APART / sizeof(uint64_t)];
static _Alignas(APART) uint64_t wanted;
static size_t distance;

static void work(unsigned member)
{
	_Atomic uint64_t *mine = &counters[member * distance];
	for (uint64_t i = wanted; i > 0; i--)
		atomic_fetch_add_explicit(mine, 1, memory_order_relaxed);
}

static void setup(struct context *c)
{
	const char *lie = parameter(c, "lie", "");
	distance = strcmp(lie, "apart") == 0 ? APART / sizeof(uint64_t) : 1;
	if (distance == 1 && strcmp(lie, "together") != 0)
		wrong_arguments(c, "lie=%s is neither apart nor together", lie);
	else if (team_cpus(c) < 2)
		skip(c, "two threads at once take two CPUs, and this process may use one");
	else
		team_start(c, 2, work);
}

static void prepare(struct context *c, uint64_t n)
{
	(void)c;
	wanted = n;
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
