/* sched/yield/...: processes=1: one operation is one sched_yield() by a process that has its CPU to itself, and goes on at once.
 * processes=2: one operation is a turn of each of two processes on one CPU, which yield until the other has had its turn.
 */
#define _GNU_SOURCE
#include "workers.h"

static struct {
	_Atomic int whose;	/* 1: the other's */
	_Atomic uint64_t turns; /* that the other had */
} *both;

static void take_turns(unsigned number)
{
	(void)number;
	while (!workers_stopping()) {
		if (atomic_load(&both->whose) == 1) {
			atomic_fetch_add(&both->turns, 1);
			atomic_store(&both->whose, 0);
		}
		sched_yield();
	}
}

static void setup(struct context *c)
{
	uint64_t processes = parameter_u64(c, "processes", 0);
	if (processes != 1 && processes != 2)
		wrong_arguments(c, "processes=%lu is neither 1 nor 2", (unsigned long)processes);
	if (processes == 2 && (both = shared_memory(c, sizeof *both)) != NULL)
		add_worker(c, take_turns);
}

static void prepare(struct context *c, uint64_t n)
{
	(void)c;
	(void)n;
	if (both != NULL)
		atomic_store(&both->turns, 0);
	start_workers();
	await_workers();
}

static void run(struct context *c, uint64_t n, uint64_t *check)
{
	for (uint64_t i = 0; i < n; i++) {
		if (both != NULL)
			atomic_store(&both->whose, 1);
		do {
			if (sched_yield() != 0) {
				failed(c, "sched_yield");
				return;
			}
		} while (both != NULL && atomic_load(&both->whose) == 1);
		++*check;
	}
}

static void finish(struct context *c, uint64_t n, uint64_t *check)
{
	(void)c;
	(void)n;
	stop_workers();
	if (both != NULL)
		*check += atomic_load(&both->turns);
}

static uint64_t expect(struct context *c, uint64_t n)
{
	(void)c;
	return both != NULL ? 2 * n : n;
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
