/* sched/yield/...: processes=1: one operation is one sched_yield() by a process alone on its CPU, which returns at once. processes=2: one
 * operation is a turn of each of two processes on one CPU, which yield to each other alternately.
 */
#define _GNU_SOURCE
#include "workers.h"

static struct {
	_Atomic int turn; /* 1: the partner's */
	_Atomic uint64_t partner_turns;
} *shared;

static void alternate(unsigned number)
{
	(void)number;
	while (!workers_stopping()) {
		if (atomic_load(&shared->turn) == 1) {
			atomic_fetch_add(&shared->partner_turns, 1);
			atomic_store(&shared->turn, 0);
		}
		sched_yield();
	}
}

static void setup(struct context *c)
{
	uint64_t processes = parameter_u64(c, "processes", 0);
	if (processes != 1 && processes != 2)
		wrong_arguments(c, "processes=%lu is neither 1 nor 2", (unsigned long)processes);
	if (processes == 2 && (shared = shared_memory(c, sizeof *shared)) != NULL)
		add_worker(c, alternate);
}

static void prepare(struct context *c, uint64_t n)
{
	(void)c;
	(void)n;
	if (shared != NULL)
		atomic_store(&shared->partner_turns, 0);
	start_workers();
	await_workers();
}

static void run(struct context *c, uint64_t n, uint64_t *check)
{
	for (uint64_t i = 0; i < n; i++) {
		if (shared != NULL)
			atomic_store(&shared->turn, 1);
		do {
			if (sched_yield() != 0) {
				failed(c, "sched_yield");
				return;
			}
		} while (shared != NULL && atomic_load(&shared->turn) == 1);
		++*check;
	}
}

static void finish(struct context *c, uint64_t n, uint64_t *check)
{
	(void)c;
	(void)n;
	stop_workers();
	if (shared != NULL)
		*check += atomic_load(&shared->partner_turns);
}

static uint64_t expect(struct context *c, uint64_t n)
{
	(void)c;
	return shared != NULL ? 2 * n : n;
}

const struct kernel kernel = {
	.name = "sched/yield",
	.setup = setup,
	.prepare = prepare,
	.run = run,
	.finish = finish,
	.expect = expect,
	.teardown = reap_workers,
};
