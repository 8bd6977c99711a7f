/* rt/semaphore: a semaphore is cleared, and a waiter of higher priority gets the CPU (hp-1987, table 5.8).
 *
 * One operation: the giver, of lower priority, releases a semaphore; the waiter, which slept on it, is dispatched on the same CPU.
 * Timed from the line before the call that releases to the first line of the waiter; the giver's call has not returned
 * then. how=system-v: semop, the semaphores that the document's system had. posix: sem_post and sem_wait, in shared memory.
 * futex: what both of these are made of or might be, one word and one call on either side.
 */
#define _GNU_SOURCE
#include <semaphore.h>
#include <sys/ipc.h>
#include <sys/sem.h>

#include "handover.h"

static int set = -1;
static sem_t *semaphore;

static void make_set(struct context *c)
{
	set = semget(IPC_PRIVATE, 1, 0600);
	if (set < 0)
		failed(c, "semget");
}

static int release_set(uint64_t number)
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

static void make_posix(struct context *c)
{
	semaphore = (sem_t *)(void *)shared->room;
	if (sem_init(semaphore, 1, 0) != 0)
		failed(c, "sem_init");
}

static int release_posix(uint64_t number)
{
	(void)number;
	return sem_post(semaphore);
}

static int wait_posix(void)
{
	return sem_wait(semaphore);
}

static const struct way ways[] = {
	{.name = "system-v", .named = 1, .make = make_set, .give = release_set, .take = wait_set},
	{.name = "posix", .make = make_posix, .give = release_posix, .take = wait_posix},
	{.name = "futex", .make = make_futex, .give = give_futex, .take = take_futex},
	{.name = NULL},
};

static void setup(struct context *c)
{
	set_up_handover(c, ways);
}

static uint64_t expect(struct context *c, uint64_t n)
{
	(void)c;
	return n * (n + 1) / 2;
}

static void teardown(struct context *c)
{
	tear_down_handover(c);
	if (set >= 0 && semctl(set, 0, IPC_RMID) != 0)
		failed(c, "semctl");
}

const struct kernel kernel = {
	.name = "rt/semaphore",
	.setup = setup,
	.run = take_all,
	.expect = expect,
	.teardown = teardown,
};
