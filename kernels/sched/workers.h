/* Processes beside the first, which sleep between regions, so that the cycle probe and what is not measured have the CPU to themselves. */
#ifndef GRITSTONE_SCHED_WORKERS_H
#define GRITSTONE_SCHED_WORKERS_H

#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../runtime/futex.h"
#include "../runtime/kernel.h"

#define MOST_OF_CREW 128

/* Shared by all. Whoever is in the crew sleeps until `turn` changes, and counts itself in and out. */
static struct crew {
	_Atomic uint32_t turn, awake, asleep;
	_Atomic int over;
} *crew;
static unsigned crew_count;
static pid_t crew_pid[MOST_OF_CREW];

/* Memory that all processes of the kernel share; NULL after a failure. */
static inline void *shared_memory(struct context *c, size_t bytes)
{
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (memory != MAP_FAILED)
		return memory;
	failed(c, "mmap");
	return NULL;
}

static inline _Noreturn void crew_serve(unsigned number, void (*work)(unsigned))
{
	for (uint32_t turn = 0;; turn++) {
		while (atomic_load(&crew->turn) == turn)
			futex_wait(&crew->turn, turn);
		atomic_fetch_add(&crew->awake, 1);
		work(number);
		atomic_fetch_add(&crew->asleep, 1);
		futex_wake_all(&crew->asleep);
	}
}

/* One more, which does work(number) in every region. For setup. */
static inline void crew_add(struct context *c, void (*work)(unsigned number))
{
	unsigned number = crew_count;
	if (crew == NULL && (crew = shared_memory(c, sizeof *crew)) == NULL)
		return;
	if (number == MOST_OF_CREW)
		wrong_arguments(c, "there are to be more than %d processes", MOST_OF_CREW);
	pid_t pid = fork_peer(c);
	if (pid < 0)
		failed(c, "fork");
	if (pid == 0)
		crew_serve(number, work);
	if (pid > 0)
		crew_pid[crew_count++] = pid;
}

/* Lets them begin. */
static inline void crew_wake(void)
{
	if (crew == NULL)
		return;
	atomic_store(&crew->over, 0);
	atomic_store(&crew->awake, 0);
	atomic_store(&crew->asleep, 0);
	atomic_fetch_add(&crew->turn, 1);
	futex_wake_all(&crew->turn);
}

/* Returns when all of them are at work. */
static inline void crew_await(void)
{
	while (crew != NULL && atomic_load(&crew->awake) < crew_count)
		sched_yield();
}

/* Returns when all of them have done their work. */
static inline void crew_join(void)
{
	uint32_t asleep;
	while (crew != NULL && (asleep = atomic_load(&crew->asleep)) < crew_count)
		futex_wait(&crew->asleep, asleep);
}

static inline int crew_is_over(void)
{
	return atomic_load_explicit(&crew->over, memory_order_relaxed);
}

/* Tells those who work until they are told. */
static inline void crew_stop(void)
{
	if (crew != NULL)
		atomic_store(&crew->over, 1);
	crew_join();
}

/* For teardown: their CPU time is ours only when they were waited for. */
static inline void crew_end(struct context *c)
{
	for (unsigned i = 0; i < crew_count; i++)
		if (kill(crew_pid[i], SIGKILL) != 0 || waitpid(crew_pid[i], NULL, 0) != crew_pid[i])
			failed(c, "waitpid");
}

#endif
