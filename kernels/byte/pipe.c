/* byte/pipe: writing to a pipe (byte-1984, listing 1 and table 1; hp-1987, table 4.2).
 *
 * One operation is one write of 512 bytes to a pipe that a child drains. The reference workload is 1,024 writes, including creation of pipe
 * and child and closing of the pipe, all in the timed region. As published, the writer does not wait for the reader: the child is reaped
 * and its count read untimed.
 */
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../runtime/kernel.h"

#define BLOCK 512

static char block[BLOCK];
static uint64_t *drained; /* shared with the child */
static pid_t child;

static void setup(struct context *c)
{
	drained = mmap(NULL, sizeof *drained, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (drained == MAP_FAILED)
		failed(c, "mmap");
}

static void prepare(struct context *c, uint64_t n)
{
	(void)c;
	(void)n;
	*drained = 0;
}

static _Noreturn void drain(int from)
{
	char buffer[BLOCK];
	uint64_t bytes = 0;
	ssize_t got;
	while ((got = read(from, buffer, sizeof buffer)) > 0)
		bytes += (uint64_t)got;
	*drained = bytes;
	_exit(got < 0);
}

static void run(struct context *c, uint64_t n, uint64_t *check)
{
	int end[2];
	(void)check;
	if (pipe(end) != 0) {
		failed(c, "pipe");
		return;
	}
	child = fork_peer(c);
	if (child < 0) {
		failed(c, "fork");
		return;
	}
	if (child == 0) {
		close(end[1]);
		drain(end[0]);
	}
	close(end[0]);
	for (uint64_t i = 0; i < n; i++)
		if (write(end[1], block, BLOCK) != BLOCK) {
			failed(c, "write");
			break;
		}
	if (close(end[1]) != 0)
		failed(c, "close");
}

static void finish(struct context *c, uint64_t n, uint64_t *check)
{
	int status;
	(void)n;
	if (waitpid(child, &status, 0) != child)
		failed(c, "waitpid");
	else if (status != 0)
		failed_because(c, "read", "the reader ended with status %#x", (unsigned)status);
	*check = *drained;
}

static uint64_t expect(struct context *c, uint64_t n)
{
	(void)c;
	return n * BLOCK;
}

const struct kernel kernel = {
	.name = "byte/pipe",
	.setup = setup,
	.prepare = prepare,
	.run = run,
	.finish = finish,
	.expect = expect,
};
