/* ipc/futex/latency, ipc/shared-memory/latency: round-trip time between two processes through shared memory (futex(2); POSIX, shared
 * memory).
 *
 * One operation is one round trip: a process writes a number to a word that the other polls, and waits until the same number appears in the
 * other's word. shared.h describes the ways to wait. Nothing is copied: with how=spin on two CPUs this is twice the latency of cache
 * coherence.
 */
#define _GNU_SOURCE
#include "shared.h"

static struct common *common;
static _Atomic uint64_t *peer_sum; /* of the region, computed by the peer */

static void serve(void)
{
	uint32_t region = 0;
	for (;;) {
		uint32_t n = next_region(common, &region);
		uint64_t sum = 0;
		for (uint32_t i = 1; i <= n; i++) {
			await(&common->forward[i & 1], i);
			sum += atomic_load_explicit(&common->forward[i & 1].value, memory_order_relaxed);
			if (i == n)
				atomic_store(peer_sum, sum);
			post(&common->backward[i & 1], i);
		}
	}
}

static void setup(struct context *c)
{
	struct {
		struct common common;
		_Atomic uint64_t peer_sum;
	} *memory;
	if (!parse_how(c) || (memory = map_shared(c, sizeof *memory)) == NULL)
		return;
	common = &memory->common;
	peer_sum = &memory->peer_sum;
	start_peer(c, serve);
}

static void prepare(struct context *c, uint64_t n)
{
	(void)c;
	for (uint32_t i = 0; i < 2; i++) { /* as after operations 0 and -1 */
		atomic_store(&common->forward[i].value, -i);
		atomic_store(&common->backward[i].value, -i);
	}
	begin_region(common, n);
}

static void run(struct context *c, uint64_t n, uint64_t *check)
{
	uint64_t sum = 0;
	for (uint32_t i = 1; i <= n; i++) {
		post(&common->forward[i & 1], i);
		if (!await(&common->backward[i & 1], i)) {
			failed_because(c, "await", "the replying process has exited");
			return;
		}
		sum += atomic_load_explicit(&common->backward[i & 1].value, memory_order_relaxed);
	}
	*check = sum;
}

static void finish(struct context *c, uint64_t n, uint64_t *check)
{
	(void)c;
	(void)n;
	*check += atomic_load(peer_sum);
}

/* Sums of 1 to n of both processes. */
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
