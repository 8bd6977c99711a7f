/* rt/semaphore: latency from releasing a semaphore to the wakeup of a waiter of higher priority (hp-1987, table 5.8).
 *
 * One operation: the sender, of lower priority, releases a semaphore; the waiter, blocked on it, is dispatched on the same CPU. Timed from
 * just before the releasing call, which has not returned yet, to just after the waiting call. how=system-v: semop, as in the document.
 * posix: sem_post and sem_wait, in shared memory. futex: the underlying mechanism, one word and one call on each side.
 */
#define _GNU_SOURCE
#include <semaphore.h>
#include <sys/ipc.h>
#include <sys/sem.h>

#include "handover.h"

static int set = -1;
static sem_t *semaphore;

static void create_set(struct context *c)
{
	set = semget(IPC_PRIVATE, 1, 0600);
	if (set < 0)
		failed(c, "semget");
}

static int post_set(uint64_t number)
{
	struct sembuf release = {.sem_op = 1};
	(void)number;
	return semop(set, &release, 1);
}

static int wait_set(void)
{
	struct sembuf wait = {.sem_op = -1};
	return semop(set, &wait, 1);
}

static void create_posix(struct context *c)
{
	semaphore = (sem_t *)(void *)shared->buffer;
	if (sem_init(semaphore, 1, 0) != 0)
		failed(c, "sem_init");
}

static int post_posix(uint64_t number)
{
	(void)number;
	return sem_post(semaphore);
}

static int wait_posix(void)
{
	return sem_wait(semaphore);
}

static const struct primitive primitives[] = {
	{.name = "system-v", .persistent = 1, .create = create_set, .post = post_set, .wait = wait_set},
	{.name = "posix", .create = create_posix, .post = post_posix, .wait = wait_posix},
	{.name = "futex", .create = create_futex, .post = post_futex, .wait = wait_futex},
	{.name = NULL},
};

static void setup(struct context *c)
{
	setup_handover(c, primitives);
}

static uint64_t expect(struct context *c, uint64_t n)
{
	(void)c;
	return n * (n + 1) / 2;
}

static void teardown(struct context *c)
{
	teardown_handover(c);
	if (set >= 0 && semctl(set, 0, IPC_RMID) != 0)
		failed(c, "semctl");
}

const struct kernel kernel = {
	.name = "rt/semaphore",
	.setup = setup,
	.run = wait_all,
	.expect = expect,
	.teardown = teardown,
};
