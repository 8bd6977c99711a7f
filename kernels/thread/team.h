/* Threads on CPUs of their own, for kernels whose work is done by several at once: woken untimed, and off together when
 * the first, which is the process itself, says so. Whoever waits between regions sleeps, so that the cycle probe has its core to itself.
 */
#ifndef GRITSTONE_THREAD_TEAM_H
#define GRITSTONE_THREAD_TEAM_H

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../runtime/futex.h"
#include "../runtime/kernel.h"

#define MOST_CPUS 1024
#define APART 256 /* bytes: no line, and no pair of lines that a prefetcher fetches together */

static struct {
	_Alignas(APART) _Atomic uint32_t turn; /* a region is being prepared: wakes who sleeps */
	_Alignas(APART) _Atomic uint32_t go;   /* it has begun */
	_Alignas(APART) _Atomic uint32_t ready;
	_Alignas(APART) _Atomic uint32_t done;
	_Alignas(APART) _Atomic uint32_t rest; /* the region is over: who goes to sleep now is not in it */
	_Alignas(APART) unsigned members; /* the process itself among them */
	void (*work)(unsigned member);	  /* its share of a region */
	pthread_t thread[MOST_CPUS];
	int cpu[MOST_CPUS];
} team;

/* The CPUs of the row in team.cpu: the one or two that it was given, or all that we may use. Returns how many. */
static inline unsigned team_cpus(struct context *c)
{
	const char *text = parameter(c, "cpus", "");
	unsigned count = 0;
	cpu_set_t allowed;
	while (*text != '\0' && count < MOST_CPUS) {
		char *end;
		team.cpu[count++] = (int)strtol(text, &end, 10);
		text = *end == ',' ? end + 1 : "";
	}
	if (count > 0)
		return count;
	if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) {
		failed(c, "sched_getaffinity");
		return 0;
	}
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET((size_t)cpu, &allowed))
			team.cpu[count++] = cpu;
	return count;
}

static inline void *team_member(void *number)
{
	unsigned member = (unsigned)(uintptr_t)number;
	for (uint32_t turn = 0;; turn++) {
		while (atomic_load(&team.turn) == turn)
			futex(&team.turn, FUTEX_WAIT_PRIVATE, turn, NULL);
		atomic_fetch_add(&team.ready, 1);
		while (atomic_load_explicit(&team.go, memory_order_acquire) == turn)
			;
		team.work(member);
		atomic_fetch_add_explicit(&team.done, 1, memory_order_release);
		while (atomic_load_explicit(&team.rest, memory_order_acquire) == turn)
			;
	}
	return NULL;
}

/* A thread that begins on a CPU; 0 when there is none. */
static inline int thread_on(struct context *c, pthread_t *thread, int cpu, void *(*begin)(void *), void *argument)
{
	pthread_attr_t attributes;
	cpu_set_t one;
	CPU_ZERO(&one);
	CPU_SET((size_t)cpu, &one);
	pthread_attr_init(&attributes);
	errno = pthread_attr_setaffinity_np(&attributes, sizeof one, &one);
	if (errno == 0)
		errno = pthread_create(thread, &attributes, begin, argument);
	if (errno != 0)
		failed_because(c, "pthread_create", "no thread on CPU %d: %s", cpu, strerror(errno));
	pthread_attr_destroy(&attributes);
	return errno == 0;
}

static inline void pin(struct context *c, int cpu)
{
	cpu_set_t one;
	CPU_ZERO(&one);
	CPU_SET((size_t)cpu, &one);
	if (sched_setaffinity(0, sizeof one, &one) != 0)
		failed(c, "sched_setaffinity");
}

/* Starts all members but the first, which is the caller; each on its CPU. For setup, after team_cpus(). */
static inline void team_start(struct context *c, unsigned members, void (*work)(unsigned))
{
	team.members = members;
	team.work = work;
	pin(c, team.cpu[0]);
	for (unsigned member = 1; member < members; member++)
		if (!thread_on(c, &team.thread[member], team.cpu[member], team_member, (void *)(uintptr_t)member))
			return;
}

/* For prepare: returns when all of them wait for the start. */
static inline void team_prepare(void)
{
	atomic_store(&team.ready, 0);
	atomic_store(&team.done, 0);
	atomic_fetch_add(&team.turn, 1);
	if (team.members > 1)
		futex(&team.turn, FUTEX_WAKE_PRIVATE, INT_MAX, NULL);
	while (atomic_load(&team.ready) < team.members - 1)
		sched_yield();
}

static inline void team_go(void)
{
	atomic_fetch_add_explicit(&team.go, 1, memory_order_release);
}

/* All others are done, and wait for team_finish. */
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
	atomic_fetch_add_explicit(&team.rest, 1, memory_order_release);
}

#endif
