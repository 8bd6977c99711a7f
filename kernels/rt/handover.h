/* Something handed to a process of higher priority that waits for it, on one CPU: the part that rt/semaphore and rt/message share.
 *
 * This process is the waiter; it runs at SCHED_FIFO with the priority= of the entry. The giver, a child, runs one below, and so only
 * while the waiter sleeps: what it stamps and gives is always what somebody waits for, and the giving call does not return to
 * it before the waiter has had the CPU and sleeps again. An operation is timed from the line before the giving call to
 * the line after the waiting call. It carries its number, so that the sum of all that came shows that each was handed over.
 */
#ifndef GRITSTONE_RT_HANDOVER_H
#define GRITSTONE_RT_HANDOVER_H

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../runtime/futex.h"
#include "realtime.h"

/* System V objects and named queues outlive a process that is killed; in a namespace of its own they go with it. */
static inline void own_ipc(struct context *c)
{
	if (unshare(CLONE_NEWIPC) == 0 || unshare(CLONE_NEWUSER | CLONE_NEWIPC) == 0)
		return;
	skip(c, "no IPC namespace of its own can be made (%s), and its objects would outlive a run that is killed; run as root",
	     strerror(errno));
}

/* One of the ways to hand something over. */
struct way {
	const char *name;
	int named; /* has objects that outlive a process */
	void (*make)(struct context *);
	int (*give)(uint64_t number); /* 0, or -1 with errno */
	int (*take)(void);            /* the same */
	/* Untimed, before and after; a way without them hands over nothing but the fact. */
	void (*fill)(uint64_t number);
	int (*read)(uint64_t *number);
};

static struct shared {
	_Atomic uint32_t region, waits; /* regions begun; the operation that the waiter waits for */
	_Atomic uint32_t word;          /* for ways that are a futex */
	uint64_t n, start, number;      /* operations of the region; when the last was given, and which */
	char room[4096];                /* what a way keeps here */
} *shared;
static const struct way *way;
static pid_t giver;

/* Never to sleep but here: until the next region begins. */
static _Noreturn void give_all(void)
{
	for (uint32_t region = 0;; region++) {
		while (atomic_load(&shared->region) == region)
			futex_wait(&shared->region, region);
		/* the next region is asked for while the last call of this one has not returned */
		uint64_t n = shared->n;
		for (uint64_t i = 1; i <= n; i++) {
			/* so at once, unless a tracer has stopped the waiter */
			while (atomic_load(&shared->waits) != (uint32_t)i)
				usleep(50);
			shared->number = i;
			if (way->fill != NULL)
				way->fill(i);
			shared->start = now_ns();
			if (way->give(i) != 0)
				_exit(1);
		}
	}
}

/* The futex way, but for what it carries: the word is the number of the last operation. */
static inline void make_futex(struct context *c)
{
	(void)c; /* the word is there */
}

static inline int give_futex(uint64_t number)
{
	atomic_store(&shared->word, (uint32_t)number);
	futex_wake_all(&shared->word);
	return 0;
}

static inline int take_futex(void)
{
	uint32_t taken = atomic_load(&shared->waits) - 1;
	while (atomic_load(&shared->word) == taken)
		futex_wait(&shared->word, taken);
	return 0;
}

/* ways: as many as there are, the last without a name. */
static inline void set_up_handover(struct context *c, const struct way *ways)
{
	const char *how = parameter(c, "how", "");
	for (way = ways; way->name != NULL && strcmp(way->name, how) != 0;)
		way++;
	if (way->name == NULL)
		wrong_arguments(c, "how=%s is no way to hand something over", how);
	shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED) {
		failed(c, "mmap");
		return;
	}
	int priority = go_realtime(c);
	if (priority == 0)
		wrong_arguments(c, "priority= must be above 0: the waiter's is higher than the giver's");
	if (way->named)
		own_ipc(c);
	way->make(c);
	giver = fork_peer(c);
	if (giver < 0)
		failed(c, "fork");
	if (giver == 0) {
		/* locked memory is not inherited, and a page of it must not be waited for */
		if (use_fifo(priority - 1) != 0)
			_exit(1);
		mlockall(MCL_CURRENT | MCL_FUTURE);
		give_all();
	}
}

static inline void take_all(struct context *c, uint64_t n, uint64_t *check)
{
	uint64_t sum = 0;
	shared->n = n;
	atomic_store(&shared->waits, 0);
	atomic_store(&shared->word, 0);
	atomic_fetch_add(&shared->region, 1);
	futex_wake_all(&shared->region);
	for (uint64_t i = 1; i <= n; i++) {
		atomic_store(&shared->waits, (uint32_t)i);
		int taken = way->take();
		uint64_t end = now_ns(), number = shared->number;
		if (taken != 0 || (way->read != NULL && way->read(&number) != 0)) {
			failed(c, way->name);
			return;
		}
		record(c, shared->start, end);
		sum += number;
	}
	*check = sum;
}

static inline void tear_down_handover(struct context *c)
{
	int status;
	kill(giver, SIGKILL); /* it waits for a region that does not come */
	if (waitpid(giver, &status, 0) != giver)
		failed(c, "waitpid");
	else if (!WIFSIGNALED(status))
		failed_because(c, way->name, "the giver ended with status %#x", (unsigned)status);
}

#endif
