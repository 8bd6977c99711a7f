/* thread/condition, thread/semaphore: two threads wake each other alternately, by=condition through two condition variables and a mutex,
 * by=semaphore through two semaphores. One operation is one round trip.
 */
#define _GNU_SOURCE
#include <semaphore.h>

#include "team.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition[2] = {PTHREAD_COND_INITIALIZER, PTHREAD_COND_INITIALIZER};
static sem_t semaphore[2];
static int turn; /* protected by the mutex */
static uint64_t replies;
static int by_semaphore;

static void *reply_by_condition(void *nothing)
{
	pthread_mutex_lock(&mutex);
	for (;;) {
		while (turn == 0)
			pthread_cond_wait(&condition[1], &mutex);
		replies++;
		turn = 0;
		pthread_cond_signal(&condition[0]);
	}
	return nothing;
}

static void *reply_by_semaphore(void *nothing)
{
	for (;;) {
		if (sem_wait(&semaphore[1]) != 0)
			continue;
		replies++;
		sem_post(&semaphore[0]);
	}
	return nothing;
}

static void setup(struct context *c)
{
	const char *by = parameter(c, "by", "");
	pthread_t thread;
	by_semaphore = strcmp(by, "semaphore") == 0;
	if (!by_semaphore && strcmp(by, "condition") != 0)
		wrong_arguments(c, "by=%s is neither condition nor semaphore", by);
	if (sem_init(&semaphore[0], 0, 0) != 0 || sem_init(&semaphore[1], 0, 0) != 0) {
		failed(c, "sem_init");
		return;
	}
	unsigned cpus = team_cpus(c);
	if (cpus > 0)
		create_thread_on(c, &thread, team.cpu[cpus > 1 ? 1 : 0], by_semaphore ? reply_by_semaphore : reply_by_condition, NULL);
}

static void prepare(struct context *c, uint64_t n)
{
	(void)c;
	(void)n;
	pthread_mutex_lock(&mutex);
	replies = 0; /* the other thread writes it only after a wakeup */
	pthread_mutex_unlock(&mutex);
}

static void condition_round_trips(uint64_t n)
{
	pthread_mutex_lock(&mutex);
	for (uint64_t i = 0; i < n; i++) {
		turn = 1;
		pthread_cond_signal(&condition[1]);
		while (turn == 1)
			pthread_cond_wait(&condition[0], &mutex);
	}
	pthread_mutex_unlock(&mutex);
}

static void run(struct context *c, uint64_t n, uint64_t *check)
{
	if (!by_semaphore)
		condition_round_trips(n);
	for (uint64_t i = 0; i < n && by_semaphore; i++)
		if (sem_post(&semaphore[1]) != 0 || sem_wait(&semaphore[0]) != 0) {
			failed(c, "sem_wait");
			return;
		}
	*check = replies;
}

static uint64_t expect(struct context *c, uint64_t n)
{
	(void)c;
	return n;
}

const struct kernel kernel = {
	.name = "thread/turns",
	.setup = setup,
	.prepare = prepare,
	.run = run,
	.expect = expect,
};
