/* aim/getpid, aim/sbrk, aim/umask, aim/creat-close: simple system calls (hp-1987, appendix A, tests 01, 02, 03, 33; table 4.1, system
 * kernel calls).
 *
 * One operation is one call (call=getpid, sbrk, sbrk-move, umask), or creat() of an existing empty file and close() (call=creat-close).
 * getpid and the break bypass the C library, which might not enter the kernel. Since the document says that some systems did not enter the
 * kernel for sbrk(0), here the break is set to its current value (sbrk), a call without effect, or moved up by a page and back alternately
 * (sbrk-move).
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../runtime/kernel.h"

#define FILE_NAME "created"
#define PAGE 65536 /* the largest page size, so that the break always moves */

static long break_address; /* initial break */

static uint64_t get_pids(struct context *c, uint64_t n)
{
	uint64_t sum = 0;
	(void)c;
	for (uint64_t i = 0; i < n; i++)
		sum += (uint64_t)syscall(SYS_getpid);
	return sum;
}

static uint64_t expect_pids(uint64_t n)
{
	return n * (uint64_t)getpid();
}

/* Number of successful calls. */
static uint64_t expect_all(uint64_t n)
{
	return n;
}

/* Sets the break to its current value; brk(0) would only query it. */
static uint64_t set_same_break(struct context *c, uint64_t n)
{
	uint64_t unchanged = 0;
	(void)c;
	for (uint64_t i = 0; i < n; i++)
		unchanged += syscall(SYS_brk, break_address) == break_address;
	return unchanged;
}

static uint64_t move_break(struct context *c, uint64_t n)
{
	uint64_t moved = 0;
	(void)c;
	for (uint64_t i = 0; i < n; i++) {
		long target = i % 2 == 0 ? break_address + PAGE : break_address;
		moved += syscall(SYS_brk, target) == target;
	}
	return moved;
}

static uint64_t set_umasks(struct context *c, uint64_t n)
{
	uint64_t same = 0;
	(void)c;
	for (uint64_t i = 0; i < n; i++)
		same += umask(0) == 0;
	return same;
}

static uint64_t create_and_close(struct context *c, uint64_t n)
{
	uint64_t pairs = 0;
	for (uint64_t i = 0; i < n; i++) {
		int file = creat(FILE_NAME, 0640);
		if (file < 0) {
			failed(c, "creat");
			break;
		}
		pairs += close(file) == 0;
	}
	return pairs;
}

static const struct {
	const char *name;
	uint64_t (*work)(struct context *c, uint64_t n);
	uint64_t (*expect)(uint64_t n);
} calls[] = {
	{"getpid", get_pids, expect_pids},
	{"sbrk", set_same_break, expect_all},
	{"sbrk-move", move_break, expect_all},
	{"umask", set_umasks, expect_all},
	{"creat-close", create_and_close, expect_all},
};
#define CALLS (sizeof calls / sizeof *calls)

static size_t chosen;

static void setup(struct context *c)
{
	const char *name = parameter(c, "call", "");
	while (chosen < CALLS && strcmp(calls[chosen].name, name) != 0)
		chosen++;
	if (chosen == CALLS)
		wrong_arguments(c, "call=%s is not getpid, sbrk, sbrk-move, umask or creat-close", name);
	umask(0);
	if (calls[chosen].work == create_and_close && create_and_close(c, 1) != 1)
		failed(c, "close");
}

/* The C library may have moved the break. */
static void prepare(struct context *c, uint64_t n)
{
	(void)c;
	(void)n;
	break_address = syscall(SYS_brk, 0);
}

static void run(struct context *c, uint64_t n, uint64_t *check)
{
	*check = calls[chosen].work(c, n);
}

/* An odd number of calls leaves the break raised. */
static void finish(struct context *c, uint64_t n, uint64_t *check)
{
	(void)n;
	(void)check;
	if (calls[chosen].work == move_break && syscall(SYS_brk, break_address) != break_address)
		failed(c, "brk");
}

static uint64_t expect(struct context *c, uint64_t n)
{
	(void)c;
	return calls[chosen].expect(n);
}

static void teardown(struct context *c)
{
	if (calls[chosen].work == create_and_close && unlink(FILE_NAME) != 0)
		failed(c, "unlink");
}

const struct kernel kernel = {
	.name = "aim/syscall",
	.setup = setup,
	.prepare = prepare,
	.run = run,
	.finish = finish,
	.expect = expect,
	.teardown = teardown,
};
