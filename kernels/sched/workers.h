/* Worker processes, parked between regions, so that the cycle probe and untimed work have the CPU to themselves. */
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

#define MAX_WORKERS 128

/* Shared. A worker sleeps until `region` changes; `running` and `finished` count workers. */
static struct workers {
	_Atomic uint32_t region, running, finished;
	_Atomic int stop;
} *workers;
static unsigned worker_count;
static pid_t worker_pid[MAX_WORKERS];

/* Memory shared with later children; NULL on failure. */
static inline void *shared_memory(struct context *c, size_t bytes)
{
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (memory != MAP_FAILED)
		return memory;
	failed(c, "mmap");
	return NULL;
}

static inline _Noreturn void worker_loop(unsigned number, void (*work)(unsigned))
{
	for (uint32_t region = 0;; region++) {
		while (atomic_load(&workers->region) == region)
			futex_wait(&workers->region, region);
		atomic_fetch_add(&workers->running, 1);
		work(number);
		atomic_fetch_add(&workers->finished, 1);
		futex_wake_all(&workers->finished);
	}
}

/* Adds a worker that calls work(number) in every region. From setup. */
static inline void add_worker(struct context *c, void (*work)(unsigned number))
{
	unsigned number = worker_count;
	if (workers == NULL && (workers = shared_memory(c, sizeof *workers)) == NULL)
		return;
	if (number == MAX_WORKERS)
		wrong_arguments(c, "more than %d processes", MAX_WORKERS);
	pid_t pid = fork_peer(c);
	if (pid < 0)
		failed(c, "fork");
	if (pid == 0)
		worker_loop(number, work);
	if (pid > 0)
		worker_pid[worker_count++] = pid;
}

static inline void start_workers(void)
{
	if (workers == NULL)
		return;
	atomic_store(&workers->stop, 0);
	atomic_store(&workers->running, 0);
	atomic_store(&workers->finished, 0);
	atomic_fetch_add(&workers->region, 1);
	futex_wake_all(&workers->region);
}

/* Returns when all workers run. */
static inline void await_workers(void)
{
	while (workers != NULL && atomic_load(&workers->running) < worker_count)
		sched_yield();
}

/* Returns when all workers have finished the region. */
static inline void join_workers(void)
{
	uint32_t finished;
	while (workers != NULL && (finished = atomic_load(&workers->finished)) < worker_count)
		futex_wait(&workers->finished, finished);
}

static inline int workers_stopping(void)
{
	return atomic_load_explicit(&workers->stop, memory_order_relaxed);
}

/* Ends work functions that poll workers_stopping(). */
static inline void stop_workers(void)
{
	if (workers != NULL)
		atomic_store(&workers->stop, 1);
	join_workers();
}

/* From teardown: reaping adds their CPU time to this process's children. */
static inline void reap_workers(struct context *c)
{
	for (unsigned i = 0; i < worker_count; i++)
		if (kill(worker_pid[i], SIGKILL) != 0 || waitpid(worker_pid[i], NULL, 0) != worker_pid[i])
			failed(c, "waitpid");
}

#endif
