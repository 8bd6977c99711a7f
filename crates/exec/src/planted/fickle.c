/* Planted: enters the kernel for each operation, but only where the compiler optimizes. */
#define _GNU_SOURCE
#include <sys/syscall.h>
#include <unistd.h>
#include "../runtime/kernel.h"
static void run(struct context *c, uint64_t n, uint64_t *check)
{
	(void)c;
	for (uint64_t i = 0; i < n; i++) {
#ifdef __OPTIMIZE__
		*check += syscall(SYS_getppid) != -1;
#else
		*check += 1;
#endif
	}
}
static uint64_t expect(struct context *c, uint64_t n) { (void)c; return n; }
const struct kernel kernel = {.name = "planted/fickle", .run = run, .expect = expect};
