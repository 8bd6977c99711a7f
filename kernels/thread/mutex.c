/* thread/mutex/...: one operation locks a mutex, increments the counter that it protects, and unlocks it. threads=1: uncontended; threads=2
 * and more, or threads=0, one per CPU: contended all the time. n operations are the total of all threads: each continues until the total is
 * reached, so that contention lasts to the end. The sum of the threads' own counts verifies mutual exclusion.
 */
#define _GNU_SOURCE
#include "team.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static _Alignas(CACHE_LINE_GAP) uint64_t total, limit;
static struct result {
	_Alignas(CACHE_LINE_GAP) uint64_t operations;
	int error;
} *thread_result;

static void work(unsigned member)
{
	uint64_t operations = 0;
	int error = 0, more = 1;
	while (more && error == 0) {
		error = pthread_mutex_lock(&mutex);
		more = total < limit;
		total += (uint64_t)more;
		operations += (uint64_t)more;
		error |= pthread_mutex_unlock(&mutex);
	}
	thread_result[member].operations = operations;
	thread_result[member].error = error;
}

static void setup(struct context *c)
{
	unsigned threads = (unsigned)parameter_u64(c, "threads", 1), cpus = team_cpus(c);
	if (threads == 0)
		threads = cpus;
	if (cpus < 2 && parameter_u64(c, "threads", 1) != 1)
		skip(c, "contention takes two CPUs, and this process may use one");
	else if (threads > cpus)
		skip(c, "it takes %u CPUs, and this process may use %u", threads, cpus);
	else if ((thread_result = aligned_alloc(CACHE_LINE_GAP, threads * sizeof *thread_result)) == NULL)
		failed(c, "aligned_alloc");
	else
		team_start(c, threads, work);
	note(c, "threads", "%u", threads);
}

static void prepare(struct context *c, uint64_t n)
{
	(void)c;
	total = 0;
	limit = n;
	team_prepare();
}

static void run(struct context *c, uint64_t n, uint64_t *check)
{
	(void)n;
	team_go();
	work(0);
	team_join();
	for (unsigned member = 0; member < team.members; member++) {
		*check += thread_result[member].operations;
		if (thread_result[member].error != 0)
			failed_because(c, "pthread_mutex_lock", "%s", strerror(thread_result[member].error));
	}
}

static uint64_t expect(struct context *c, uint64_t n)
{
	(void)c;
	return n;
}

const struct kernel kernel = {
	.name = "thread/mutex",
	.setup = setup,
	.prepare = prepare,
	.run = run,
	.finish = team_finish,
	.expect = expect,
};
