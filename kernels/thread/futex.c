/* thread/futex: one operation is a FUTEX_WAIT on a word with another value, which fails with EAGAIN: the slow path of every blocking lock
 * of the C library, without the sleep.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../runtime/kernel.h"

static uint32_t word;

static void run(struct context *c, uint64_t n, uint64_t *check)
{
	for (uint64_t i = 0; i < n; i++) {
		if (syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 1, NULL, NULL, 0) != -1 || errno != EAGAIN) {
			failed(c, "futex");
			return;
		}
		++*check;
	}
}

static uint64_t expect(struct context *c, uint64_t n)
{
	(void)c;
	return n;
}

const struct kernel kernel = {.name = "thread/futex", .run = run, .expect = expect};
