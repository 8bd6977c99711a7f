/* byte/syscall: system call overhead (byte-1984, listing 2 and table 1).
 *
 * One operation is one getpid() by syscall(2), since some C library versions cached the result. The reference workload is 25,000
 * operations.
 */
#define _GNU_SOURCE
#include <sys/syscall.h>
#include <unistd.h>

#include "../runtime/kernel.h"

static void run(struct context *c, uint64_t n, uint64_t *check)
{
	uint64_t sum = 0;
	(void)c;
	for (uint64_t i = 0; i < n; i++)
		sum += (uint64_t)syscall(SYS_getpid);
	*check = sum;
}

static uint64_t expect(struct context *c, uint64_t n)
{
	(void)c;
	return n * (uint64_t)getpid();
}

const struct kernel kernel = {.name = "byte/syscall", .run = run, .expect = expect};
