/* ipc/futex/latency, ipc/shared-memory/latency: how long it takes to ask another process and to be answered through memory that
 * both have (futex(2); POSIX, shared memory).
 *
 * One operation is one round trip: a process writes a number where the other one looks, and waits until the same number is
 * where the other one writes. How they wait is told in shared.h. Nothing is copied: with how=spin on two CPUs this is what the
 * hardware takes to show one CPU what another has written, twice.
 */
#define _GNU_SOURCE
#include "shared.h"

static struct common *common;
static _Atomic uint64_t *seen; /* by the second process, in a region */

static void serve(void)
{
	uint32_t region = 0;
	for (;;) {
		uint32_t n = next_region(common, &region);
		uint64_t sum = 0;
		for (uint32_t i = 1; i <= n; i++) {
			await(&common->there, i);
			sum += atomic_load_explicit(&common->there.value, memory_order_relaxed);
			if (i == n)
				atomic_store(seen, sum);
			post(&common->back, i);
		}
	}
}

static void setup(struct context *c)
{
	struct {
		struct common common;
		_Atomic uint64_t seen;
	} *memory;
	if (!parse_how(c) || (memory = common_memory(c, sizeof *memory)) == NULL)
		return;
	common = &memory->common;
	seen = &memory->seen;
	start_peer(c, serve);
}

static void prepare(struct context *c, uint64_t n)
{
	(void)c;
	atomic_store(&common->there.value, 0);
	atomic_store(&common->back.value, 0);
	begin_region(common, n);
}

static void run(struct context *c, uint64_t n, uint64_t *check)
{
	uint64_t sum = 0;
	for (uint32_t i = 1; i <= n; i++) {
		post(&common->there, i);
		if (!await(&common->back, i)) {
			failed_because(c, "await", "the process that answers has ended");
			return;
		}
		sum += atomic_load_explicit(&common->back.value, memory_order_relaxed);
	}
	*check = sum;
}

static void finish(struct context *c, uint64_t n, uint64_t *check)
{
	(void)c;
	(void)n;
	*check += atomic_load(seen);
}

/* 1 to n, as both have seen them. */
static uint64_t expect(struct context *c, uint64_t n)
{
	(void)c;
	return n * (n + 1);
}

const struct kernel kernel = {
	.name = "ipc/shared-latency",
	.setup = setup,
	.prepare = prepare,
	.run = run,
	.finish = finish,
	.expect = expect,
	.teardown = stop_peer,
	.max_n = 1u << 31,
};
