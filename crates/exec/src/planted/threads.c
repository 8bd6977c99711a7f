/* Planted: one thread an operation, which enters the kernel ten times. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "../runtime/kernel.h"
static void *work(void *nothing)
{
	for (int i = 0; i < 10; i++)
		syscall(SYS_getppid);
	return nothing;
}
static void run(struct context *c, uint64_t n, uint64_t *check)
{
	for (uint64_t i = 0; i < n; i++) {
		pthread_t thread;
		if (pthread_create(&thread, NULL, work, NULL) != 0)
			failed(c, "pthread_create");
		*check += pthread_join(thread, NULL) == 0;
	}
}
static uint64_t expect(struct context *c, uint64_t n) { (void)c; return n; }
const struct kernel kernel = {.name = "planted/threads", .run = run, .expect = expect};
