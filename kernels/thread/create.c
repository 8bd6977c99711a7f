/* thread/create: one operation creates and joins a thread. Each thread increments a counter, which is the check value. Stacks come from the
 * C library, which caches those of exited threads.
 */
#include <errno.h>
#include <pthread.h>

#include "../runtime/kernel.h"

static void *count(void *counter)
{
	++*(uint64_t *)counter;
	return NULL;
}

static void run(struct context *c, uint64_t n, uint64_t *check)
{
	uint64_t counter = 0;
	for (uint64_t i = 0; i < n; i++) {
		pthread_t thread;
		errno = pthread_create(&thread, NULL, count, &counter);
		if (errno != 0) {
			failed(c, "pthread_create");
			return;
		}
		errno = pthread_join(thread, NULL);
		if (errno != 0) {
			failed(c, "pthread_join");
			return;
		}
	}
	*check = counter;
}

static uint64_t expect(struct context *c, uint64_t n)
{
	(void)c;
	return n;
}

const struct kernel kernel = {.name = "thread/create", .run = run, .expect = expect};
