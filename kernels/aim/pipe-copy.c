/* aim/pipe-copy: how fast two programs that work together pass data on (hp-1987, appendix A, test 09; table 4.1, pipe).
 *
 * One operation is one block (block= bytes) that a process writes into a pipe and another reads from it. The clock stops
 * when the reader has said how many bytes it got, so that both sides of the copying are in it. The processes and their
 * two pipes are made beforehand.
 */
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../runtime/kernel.h"

#define MOST (1 << 20)

static size_t block_size;
static char *block;
static int data[2], answer[2];
static pid_t reader;

static void setup(struct context *c)
{
	block_size = parameter_u64(c, "block", 512);
	if (block_size < 1 || block_size > MOST)
		wrong_arguments(c, "block=%s is not 1 to %d", parameter(c, "block", ""), MOST);
	block = calloc(1, block_size);
	if (block == NULL)
		failed(c, "calloc");
}

/* Says how much came, once there is no more. */
static _Noreturn void drain(void)
{
	uint64_t bytes = 0;
	ssize_t got;
	while ((got = read(data[0], block, block_size)) > 0)
		bytes += (uint64_t)got;
	_exit(got < 0 || write(answer[1], &bytes, sizeof bytes) != sizeof bytes);
}

static void prepare(struct context *c, uint64_t n)
{
	(void)n;
	if (pipe(data) != 0 || pipe(answer) != 0) {
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
	close(answer[1]);
}

static void run(struct context *c, uint64_t n, uint64_t *check)
{
	for (uint64_t i = 0; i < n; i++)
		if (write(data[1], block, block_size) != (ssize_t)block_size) {
			failed(c, "write");
			return;
		}
	close(data[1]);
	if (read(answer[0], check, sizeof *check) != sizeof *check)
		failed(c, "read");
}

static void finish(struct context *c, uint64_t n, uint64_t *check)
{
	int status;
	(void)n;
	(void)check;
	close(answer[0]);
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
