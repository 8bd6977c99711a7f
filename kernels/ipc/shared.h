/* Two processes with memory in common, and how one of them waits until the other has written there: how=futex sleeps in the kernel,
 * how=yield gives the CPU away again and again, how=spin does nothing but look. The memory has no name. */
#ifndef GRITSTONE_IPC_SHARED_H
#define GRITSTONE_IPC_SHARED_H

#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../runtime/futex.h"
#include "peer.h"

/* Words that two CPUs write must not be neighbors: lines are fetched in pairs. */
#define APART 128

struct word {
	_Atomic uint32_t value;
} __attribute__((aligned(APART)));

/* For the time of a region the second process works; between regions it sleeps, out of the way of everything. */
struct common {
	struct word region, wanted;
	struct word there[2], back[2];
};

static enum { FUTEX, YIELD, SPIN } how;

static inline void breathe(void)
{
#if defined __x86_64__ || defined __i386__
	__asm__ volatile("pause");
#elif defined __aarch64__
	__asm__ volatile("yield");
#endif
}

static inline void wait_a_little(void)
{
	if (how == YIELD)
		sched_yield();
	else
		breathe();
}

/* Writes the next value, and wakes who sleeps until then. */
static inline void post(struct word *word, uint32_t value)
{
	atomic_store_explicit(&word->value, value, memory_order_release);
	if (how == FUTEX)
		futex(&word->value, FUTEX_WAKE, 1, NULL);
}

/* Until the value is there, which is two more than before: of two words that are used in turn, so that who wakes late cannot wake
 * the next sleep in vain. Returns 0 when the other process has ended. */
static inline int await(struct word *word, uint32_t value)
{
	if (how == FUTEX)
		do
			futex(&word->value, FUTEX_WAIT, value - 2, NULL);
		while (atomic_load_explicit(&word->value, memory_order_acquire) != value && !peer_died);
	else
		while (atomic_load_explicit(&word->value, memory_order_acquire) != value && !peer_died)
			wait_a_little();
	return !peer_died;
}

static int parse_how(struct context *c)
{
	static const char *const names[] = {"futex", "yield", "spin"};
	const char *name = parameter(c, "how", "");
	for (how = FUTEX; how <= SPIN; how++)
		if (strcmp(name, names[how]) == 0)
			return 1;
	wrong_arguments(c, "how=%s is none of futex, yield and spin", name);
	return 0;
}

/* Memory that both processes see, touched. */
static void *common_memory(struct context *c, size_t bytes)
{
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED) {
		failed(c, "mmap");
		return NULL;
	}
	return memset(memory, 0, bytes);
}

/* The first process starts a region of n operations, the second one sleeps until there is one. */
static void begin_region(struct common *common, uint64_t n)
{
	atomic_store(&common->wanted.value, (uint32_t)n);
	atomic_fetch_add(&common->region.value, 1);
	futex(&common->region.value, FUTEX_WAKE, 1, NULL);
}

static uint32_t next_region(struct common *common, uint32_t *last)
{
	while (atomic_load(&common->region.value) == *last)
		futex(&common->region.value, FUTEX_WAIT, *last, NULL);
	++*last;
	return atomic_load(&common->wanted.value);
}

#endif
