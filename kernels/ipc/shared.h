/* Two processes with anonymous shared memory, and the ways to wait for each other's writes: how=futex sleeps in the kernel, how=yield polls
 * with sched_yield(), how=spin polls. */
#ifndef GRITSTONE_IPC_SHARED_H
#define GRITSTONE_IPC_SHARED_H

#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../runtime/futex.h"
#include "peer.h"

/* Distance of words written by different CPUs: prefetchers fetch pairs of lines. */
#define CACHE_LINE_GAP 128

struct word {
	_Atomic uint32_t value;
} __attribute__((aligned(CACHE_LINE_GAP)));

/* The second process sleeps between regions. */
struct common {
	struct word region, operations;
	struct word forward[2], backward[2];
};

static enum { FUTEX, YIELD, SPIN } how;

static inline void cpu_relax(void)
{
#if defined __x86_64__ || defined __i386__
	__asm__ volatile("pause");
#elif defined __aarch64__
	__asm__ volatile("yield");
#endif
}

static inline void wait_once(void)
{
	if (how == YIELD)
		sched_yield();
	else
		cpu_relax();
}

static inline void post(struct word *word, uint32_t value)
{
	atomic_store_explicit(&word->value, value, memory_order_release);
	if (how == FUTEX)
		futex(&word->value, FUTEX_WAKE, 1, NULL);
}

/* Waits for a value, two above the word's previous one: two words alternate, so that a late wakeup cannot hit the next sleep. Returns 0 if
 * the peer has died. */
static inline int await(struct word *word, uint32_t value)
{
	if (how == FUTEX)
		do
			futex(&word->value, FUTEX_WAIT, value - 2, NULL);
		while (atomic_load_explicit(&word->value, memory_order_acquire) != value && !peer_died);
	else
		while (atomic_load_explicit(&word->value, memory_order_acquire) != value && !peer_died)
			wait_once();
	return !peer_died;
}

static int parse_how(struct context *c)
{
	static const char *const names[] = {"futex", "yield", "spin"};
	const char *name = parameter(c, "how", "");
	for (how = FUTEX; how <= SPIN; how++)
		if (strcmp(name, names[how]) == 0)
			return 1;
	wrong_arguments(c, "how=%s is not futex, yield or spin", name);
	return 0;
}

/* Shared, pre-faulted memory. */
static void *map_shared(struct context *c, size_t bytes)
{
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED) {
		failed(c, "mmap");
		return NULL;
	}
	return memset(memory, 0, bytes);
}

/* Starts a region of n operations; next_region() in the peer sleeps until then. */
static void begin_region(struct common *common, uint64_t n)
{
	atomic_store(&common->operations.value, (uint32_t)n);
	atomic_fetch_add(&common->region.value, 1);
	futex(&common->region.value, FUTEX_WAKE, 1, NULL);
}

static uint32_t next_region(struct common *common, uint32_t *last)
{
	while (atomic_load(&common->region.value) == *last)
		futex(&common->region.value, FUTEX_WAIT, *last, NULL);
	++*last;
	return atomic_load(&common->operations.value);
}

#endif
