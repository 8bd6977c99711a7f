/* Team of pinned threads for parallel workloads: woken untimed, then started together by the main thread, member 0. Between regions threads
 * sleep, so that the cycle probe has the core to itself.
 */
#ifndef GRITSTONE_THREAD_TEAM_H
#define GRITSTONE_THREAD_TEAM_H

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../runtime/cpus.h"
#include "../runtime/futex.h"
#include "../runtime/kernel.h"

#define CACHE_LINE_GAP 256 /* bytes: no shared cache line, nor a pair that a prefetcher fetches together */

static struct {
	_Alignas(CACHE_LINE_GAP) _Atomic uint32_t region; /* number of the region: wakes the threads */
	_Alignas(CACHE_LINE_GAP) _Atomic uint32_t started;   /* the region has started */
	_Alignas(CACHE_LINE_GAP) _Atomic uint32_t ready;
	_Alignas(CACHE_LINE_GAP) _Atomic uint32_t done;
	_Alignas(CACHE_LINE_GAP) _Atomic uint32_t released; /* the region has ended: threads may go to sleep */
	_Alignas(CACHE_LINE_GAP) unsigned members; /* including the main thread */
	void (*work)(unsigned member);	  /* its share of a region */
	pthread_t thread[NR_CPUS];
	int cpu[NR_CPUS];
} team;

/* Fills team.cpu: the one or two CPUs of cpus=, or all permitted ones. Returns their number. */
static inline unsigned team_cpus(struct context *c)
{
	const char *text = parameter(c, "cpus", "");
	int count = 0;
	while (*text != '\0' && count < NR_CPUS) {
		char *end;
		team.cpu[count++] = (int)strtol(text, &end, 10);
		text = *end == ',' ? end + 1 : "";
	}
	if (count == 0)
		count = permitted_cpus(team.cpu);
	if (count < 0)
		failed(c, "sched_getaffinity");
	return count < 0 ? 0 : (unsigned)count;
}

static inline void *team_member(void *number)
{
	unsigned member = (unsigned)(uintptr_t)number;
	for (uint32_t region = 0;; region++) {
		while (atomic_load(&team.region) == region)
			futex(&team.region, FUTEX_WAIT_PRIVATE, region, NULL);
		atomic_fetch_add(&team.ready, 1);
		while (atomic_load_explicit(&team.started, memory_order_acquire) == region)
			;
		team.work(member);
		atomic_fetch_add_explicit(&team.done, 1, memory_order_release);
		while (atomic_load_explicit(&team.released, memory_order_acquire) == region)
			;
	}
	return NULL;
}

/* Returns 0 on failure. */
static inline int create_thread_on(struct context *c, pthread_t *thread, int cpu, void *(*begin)(void *), void *argument)
{
	pthread_attr_t attributes;
	const struct cpu_mask mask = mask_of_cpu(cpu);
	pthread_attr_init(&attributes);
	errno = pthread_attr_setaffinity_np(&attributes, sizeof mask, mask.part);
	if (errno == 0)
		errno = pthread_create(thread, &attributes, begin, argument);
	if (errno != 0)
		failed_because(c, "pthread_create", "cannot create a thread on CPU %d: %s", cpu, strerror(errno));
	pthread_attr_destroy(&attributes);
	return errno == 0;
}

static inline void pin(struct context *c, int cpu)
{
	if (pin_to_cpu(cpu) != 0)
		failed(c, "sched_setaffinity");
}

/* Creates members 1 and later, each on its CPU; the caller is member 0. From setup, after team_cpus(). */
static inline void team_start(struct context *c, unsigned members, void (*work)(unsigned))
{
	team.members = members;
	team.work = work;
	pin(c, team.cpu[0]);
	for (unsigned member = 1; member < members; member++)
		if (!create_thread_on(c, &team.thread[member], team.cpu[member], team_member, (void *)(uintptr_t)member))
			return;
}

/* From prepare: returns when all threads are ready to start. */
static inline void team_prepare(void)
{
	atomic_store(&team.ready, 0);
	atomic_store(&team.done, 0);
	atomic_fetch_add(&team.region, 1);
	if (team.members > 1)
		futex(&team.region, FUTEX_WAKE_PRIVATE, INT_MAX, NULL);
	while (atomic_load(&team.ready) < team.members - 1)
		sched_yield();
}

static inline void team_go(void)
{
	atomic_fetch_add_explicit(&team.started, 1, memory_order_release);
}

/* Returns when all threads have finished; they spin until team_finish(). */
static inline void team_join(void)
{
	while (atomic_load_explicit(&team.done, memory_order_acquire) < team.members - 1)
		;
}

/* The hook finish. */
static inline void team_finish(struct context *c, uint64_t n, uint64_t *check)
{
	(void)c;
	(void)n;
	(void)check;
	atomic_fetch_add_explicit(&team.released, 1, memory_order_release);
}

#endif
