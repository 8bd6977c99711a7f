/* thread/mutex/...: one operation locks a mutex, adds one to what it guards, and unlocks it. threads=1 has it to itself; threads=2 and more, or
 * threads=0, one on each CPU, want it all the time. n operations are those of all threads together: each goes on until there are
 * none left, so that nobody is alone with the mutex at the end. What each did itself, added up, shows that no two were
 * inside at once.
 */
#define _GNU_SOURCE
#include "team.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static _Alignas(APART) uint64_t guarded, wanted;
static struct {
	_Alignas(APART) uint64_t did;
	int error;
} of[MOST_CPUS];

static void work(unsigned member)
{
	uint64_t did = 0;
	int error = 0, more = 1;
	while (more && error == 0) {
		error = pthread_mutex_lock(&mutex);
		more = guarded < wanted;
		guarded += (uint64_t)more;
		did += (uint64_t)more;
		error |= pthread_mutex_unlock(&mutex);
	}
	of[member].did = did;
	of[member].error = error;
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
	else
		team_start(c, threads, work);
	note(c, "threads", "%u", threads);
}

static void prepare(struct context *c, uint64_t n)
{
	(void)c;
	guarded = 0;
	wanted = n;
	team_prepare();
}

static void run(struct context *c, uint64_t n, uint64_t *check)
{
	(void)n;
	team_go();
	work(0);
	team_join();
	for (unsigned member = 0; member < team.members; member++) {
		*check += of[member].did;
		if (of[member].error != 0)
			failed_because(c, "pthread_mutex_lock", "%s", strerror(of[member].error));
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
