/* aim/pipe-copy: pipe bandwidth between two processes (hp-1987, appendix A, test 09; table 4.1, pipe).
 *
 * One operation is one block (block= bytes) that a process writes to a pipe and another reads. The clock stops when the reader has
 * confirmed the number of bytes, so that both copies are included. Processes and pipes are created before.
 */
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../runtime/kernel.h"

#define MAX_BLOCK (1 << 20)

static size_t block_size;
static char *block;
static int data[2], reply[2];
static pid_t reader;

static void setup(struct context *c)
{
	block_size = parameter_u64(c, "block", 512);
	if (block_size < 1 || block_size > MAX_BLOCK)
		wrong_arguments(c, "block=%s is not 1 to %d", parameter(c, "block", ""), MAX_BLOCK);
	block = calloc(1, block_size);
	if (block == NULL)
		failed(c, "calloc");
}

/* Reports the number of bytes at end of file. */
static _Noreturn void drain(void)
{
	uint64_t bytes = 0;
	ssize_t got;
	while ((got = read(data[0], block, block_size)) > 0)
		bytes += (uint64_t)got;
	_exit(got < 0 || write(reply[1], &bytes, sizeof bytes) != sizeof bytes);
}

static void prepare(struct context *c, uint64_t n)
{
	(void)n;
	if (pipe(data) != 0 || pipe(reply) != 0) {
		failed(c, "pipe");
		return;
	}
	reader = fork_peer(c);
	if (reader < 0) {
		failed(c, "fork");
		return;
	}
	if (reader == 0) {
		close(data[1]);
		drain();
	}
	close(data[0]);
	close(reply[1]);
}

static void run(struct context *c, uint64_t n, uint64_t *check)
{
	for (uint64_t i = 0; i < n; i++)
		if (write(data[1], block, block_size) != (ssize_t)block_size) {
			failed(c, "write");
			return;
		}
	close(data[1]);
	if (read(reply[0], check, sizeof *check) != sizeof *check)
		failed(c, "read");
}

static void finish(struct context *c, uint64_t n, uint64_t *check)
{
	int status;
	(void)n;
	(void)check;
	close(reply[0]);
	if (waitpid(reader, &status, 0) != reader)
		failed(c, "waitpid");
	else if (status != 0)
		failed_because(c, "read", "the reader ended with status %#x", (unsigned)status);
}

static uint64_t expect(struct context *c, uint64_t n)
{
	(void)c;
	return n * block_size;
}

const struct kernel kernel = {
	.name = "aim/pipe-copy",
	.setup = setup,
	.prepare = prepare,
	.run = run,
	.finish = finish,
	.expect = expect,
};
