/* kernel/pipeself, kernel/pipediscard, kernel/pipeback: messages through a pipe (hp-1987, table 4.3).
 *
 * One operation is one message of size= bytes, which carries its number. how=self: a process writes and reads it itself. how=discard: a
 * child reads and discards it; the region ends when the child confirms the last one. how=back: a child reads it and sends it back, before
 * the next is written. The reference workload is 10,000 messages.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../runtime/kernel.h"

static char message[PIPE_BUF]; /* writes up to PIPE_BUF are atomic */
static size_t size;
static int out, in;               /* ends of the parent */
static volatile uint64_t *message_count; /* of the region; shared with the child */
static pid_t child;
static enum { SELF, DISCARD, BACK } how;

static void write_number(uint32_t number)
{
	memcpy(message, &number, sizeof number);
}

static uint32_t read_number(void)
{
	uint32_t number;
	memcpy(&number, message, sizeof number);
	return number;
}

static int receive_message(int from)
{
	return read(from, message, size) == (ssize_t)size;
}

static int send_message(int to)
{
	return write(to, message, size) == (ssize_t)size;
}

static _Noreturn void serve(int from, int to)
{
	uint64_t count = 0, sum = 0;
	while (receive_message(from)) {
		if (how == BACK && !send_message(to))
			_exit(1);
		if (how == BACK)
			continue;
		sum += read_number();
		if (++count < *message_count)
			continue;
		if (write(to, &sum, sizeof sum) != sizeof sum)
			_exit(1);
		count = sum = 0;
	}
	_exit(0);
}

static void parse(struct context *c)
{
	static const char *const names[] = {"self", "discard", "back"};
	const char *name = parameter(c, "how", "");
	size = (size_t)parameter_u64(c, "size", 0);
	if (size < sizeof(uint32_t) || size > sizeof message)
		wrong_arguments(c, "size=%zu is not between 4 and %zu", size, sizeof message);
	for (how = SELF; how <= BACK; how++)
		if (strcmp(name, names[how]) == 0)
			return;
	wrong_arguments(c, "how=%s is not self, discard or back", name);
}

static void setup(struct context *c)
{
	int forward[2], backward[2];
	parse(c);
	signal(SIGPIPE, SIG_IGN); /* a dead child shows as an error of write() */
	message_count = mmap(NULL, sizeof *message_count, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (message_count == MAP_FAILED || pipe2(forward, O_CLOEXEC) != 0 || pipe2(backward, O_CLOEXEC) != 0) {
		failed(c, "setup");
		return;
	}
	out = forward[1];
	in = how == SELF ? forward[0] : backward[0];
	if (how == SELF)
		return;
	child = fork_peer(c);
	if (child < 0)
		failed(c, "fork");
	if (child == 0) {
		close(forward[1]);
		close(backward[0]);
		serve(forward[0], backward[1]);
	}
	close(forward[0]);
	close(backward[1]);
}

static void prepare(struct context *c, uint64_t n)
{
	(void)c;
	*message_count = n;
}

static void run(struct context *c, uint64_t n, uint64_t *check)
{
	uint64_t sum = 0;
	for (uint64_t i = 1; i <= n; i++) {
		write_number((uint32_t)i);
		if (!send_message(out)) {
			failed(c, "write");
			return;
		}
		if (how == DISCARD)
			continue;
		if (!receive_message(in)) {
			failed_because(c, "read", "message %llu did not come back complete", (unsigned long long)i);
			return;
		}
		sum += read_number();
	}
	if (how == DISCARD && read(in, &sum, sizeof sum) != sizeof sum)
		failed_because(c, "read", "the child did not confirm the last message");
	*check = sum;
}

static uint64_t expect(struct context *c, uint64_t n)
{
	(void)c;
	return n * (n + 1) / 2;
}

static void teardown(struct context *c)
{
	int status;
	if (child == 0)
		return;
	close(out);
	if (waitpid(child, &status, 0) != child)
		failed(c, "waitpid");
	else if (status != 0)
		failed_because(c, "pipe", "the child ended with status %#x", (unsigned)status);
}

const struct kernel kernel = {
	.name = "kernel/pipe",
	.setup = setup,
	.prepare = prepare,
	.run = run,
	.expect = expect,
	.teardown = teardown,
};
