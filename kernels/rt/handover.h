/* Wakeup of a waiter of higher priority on the same CPU: common part of rt/semaphore and rt/message.
 *
 * This process is the waiter, at SCHED_FIFO with priority=. The sender, a child, has the next lower priority, and so runs only while the
 * waiter sleeps: every post wakes the waiter, and the post does not return before the waiter has run and sleeps again. An operation is
 * timed from just before the post to just after the wait. It carries its number, and the sum of all received numbers is the check value.
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

/* System V objects and named queues outlive a killed process, except in an IPC namespace of its own. */
static inline void unshare_ipc(struct context *c)
{
	if (unshare(CLONE_NEWIPC) == 0 || unshare(CLONE_NEWUSER | CLONE_NEWIPC) == 0)
		return;
	skip(c, "cannot create an IPC namespace (%s), and its objects would outlive a killed run; run as root",
	     strerror(errno));
}

/* A synchronization or message primitive. */
struct primitive {
	const char *name;
	int persistent; /* objects outlive the process */
	void (*create)(struct context *);
	int (*post)(uint64_t number); /* 0, or -1 with errno */
	int (*wait)(void);
	/* Untimed, before and after, for messages; NULL for semaphores. */
	void (*fill)(uint64_t number);
	int (*read)(uint64_t *number);
};

static struct shared {
	_Atomic uint32_t region, awaited; /* number of the region; number of the operation that the waiter awaits */
	_Atomic uint32_t word; /* of the futex primitives */
	uint64_t n, start, number; /* operations of the region; time and number of the last post */
	char buffer[4096]; /* for the primitive's data */
} *shared;
static const struct primitive *primitive;
static pid_t sender;

/* The sender sleeps only here: between regions. */
static _Noreturn void run_sender(void)
{
	for (uint32_t region = 0;; region++) {
		while (atomic_load(&shared->region) == region)
			futex_wait(&shared->region, region);
		/* the next region may start before the last post of this one returns */
		uint64_t n = shared->n;
		for (uint64_t i = 1; i <= n; i++) {
			/* true at once, unless a tracer has stopped the waiter */
			while (atomic_load(&shared->awaited) != (uint32_t)i)
				usleep(50);
			shared->number = i;
			if (primitive->fill != NULL)
				primitive->fill(i);
			shared->start = now_ns();
			if (primitive->post(i) != 0)
				_exit(1);
		}
	}
}

/* The futex primitive without payload: the word is the number of the last operation. */
static inline void create_futex(struct context *c)
{
	(void)c;
}

static inline int post_futex(uint64_t number)
{
	atomic_store(&shared->word, (uint32_t)number);
	futex_wake_all(&shared->word);
	return 0;
}

static inline int wait_futex(void)
{
	uint32_t previous = atomic_load(&shared->awaited) - 1;
	while (atomic_load(&shared->word) == previous)
		futex_wait(&shared->word, previous);
	return 0;
}

/* The array ends with an entry without a name. */
static inline void setup_handover(struct context *c, const struct primitive *primitives)
{
	const char *name = parameter(c, "how", "");
	for (primitive = primitives; primitive->name != NULL && strcmp(primitive->name, name) != 0;)
		primitive++;
	if (primitive->name == NULL)
		wrong_arguments(c, "unknown how=%s", name);
	shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED) {
		failed(c, "mmap");
		return;
	}
	int priority = become_realtime(c);
	if (priority == 0)
		wrong_arguments(c, "priority= must be above 0: the waiter's is higher than the sender's");
	if (primitive->persistent)
		unshare_ipc(c);
	primitive->create(c);
	sender = fork_peer(c);
	if (sender < 0)
		failed(c, "fork");
	if (sender == 0) {
		/* memory locks are not inherited, and a page fault would delay the post */
		if (set_fifo(priority - 1) != 0)
			_exit(1);
		mlockall(MCL_CURRENT | MCL_FUTURE);
		run_sender();
	}
}

static inline void wait_all(struct context *c, uint64_t n, uint64_t *check)
{
	uint64_t sum = 0;
	shared->n = n;
	atomic_store(&shared->awaited, 0);
	atomic_store(&shared->word, 0);
	atomic_fetch_add(&shared->region, 1);
	futex_wake_all(&shared->region);
	for (uint64_t i = 1; i <= n; i++) {
		atomic_store(&shared->awaited, (uint32_t)i);
		int status = primitive->wait();
		uint64_t end = now_ns(), number = shared->number;
		if (status != 0 || (primitive->read != NULL && primitive->read(&number) != 0)) {
			failed(c, primitive->name);
			return;
		}
		record(c, shared->start, end);
		sum += number;
	}
	*check = sum;
}

static inline void teardown_handover(struct context *c)
{
	int status;
	kill(sender, SIGKILL);
	if (waitpid(sender, &status, 0) != sender)
		failed(c, "waitpid");
	else if (!WIFSIGNALED(status))
		failed_because(c, primitive->name, "the sender ended with status %#x", (unsigned)status);
}

#endif
