/* thread/condition, thread/semaphore: two threads let each other go in turn, by=condition through two condition variables and
 * a mutex, by=semaphore through two semaphores. One operation is one round trip: the first wakes the second and sleeps
 * until that has woken it.
 */
#define _GNU_SOURCE
#include <semaphore.h>

#include "team.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t go_on[2] = {PTHREAD_COND_INITIALIZER, PTHREAD_COND_INITIALIZER};
static sem_t semaphore[2];
static int whose; /* guarded by the mutex */
static uint64_t answered;
static int by_semaphore;

static void *answer_signals(void *nothing)
{
	pthread_mutex_lock(&mutex);
	for (;;) {
		while (whose == 0)
			pthread_cond_wait(&go_on[1], &mutex);
		answered++;
		whose = 0;
		pthread_cond_signal(&go_on[0]);
	}
	return nothing;
}

static void *answer_posts(void *nothing)
{
	for (;;) {
		if (sem_wait(&semaphore[1]) != 0)
			continue;
		answered++;
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
		thread_on(c, &thread, team.cpu[cpus > 1 ? 1 : 0], by_semaphore ? answer_posts : answer_signals, NULL);
}

static void prepare(struct context *c, uint64_t n)
{
	(void)c;
	(void)n;
	pthread_mutex_lock(&mutex);
	answered = 0; /* nobody writes it until the first is woken */
	pthread_mutex_unlock(&mutex);
}

static void trade_signals(uint64_t n)
{
	pthread_mutex_lock(&mutex);
	for (uint64_t i = 0; i < n; i++) {
		whose = 1;
		pthread_cond_signal(&go_on[1]);
		while (whose == 1)
			pthread_cond_wait(&go_on[0], &mutex);
	}
	pthread_mutex_unlock(&mutex);
}

static void run(struct context *c, uint64_t n, uint64_t *check)
{
	if (!by_semaphore)
		trade_signals(n);
	for (uint64_t i = 0; i < n && by_semaphore; i++)
		if (sem_post(&semaphore[1]) != 0 || sem_wait(&semaphore[0]) != 0) {
			failed(c, "sem_wait");
			return;
		}
	*check = answered;
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
