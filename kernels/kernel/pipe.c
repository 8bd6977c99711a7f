/* kernel/pipeself, kernel/pipediscard, kernel/pipeback: messages through a pipe (hp-1987, table 4.3).
 *
 * One operation is one message of size= bytes, which carries its number. how=self: a process writes it and reads it back
 * itself. how=discard: a child reads it and throws it away; a region ends when the child says, once, that it has read
 * the last. how=back: a child reads it and sends it back, before the next is written. 10,000 messages are the published work.
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

static char message[PIPE_BUF]; /* what is shorter than PIPE_BUF is never torn */
static size_t size;
static int out, in;               /* where the messages go, and where the answer comes from */
static volatile uint64_t *wanted; /* messages of this region, shared with the child */
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

static int receive(int from)
{
	return read(from, message, size) == (ssize_t)size;
}

static int send_on(int to)
{
	return write(to, message, size) == (ssize_t)size;
}

/* Until the pipe is closed. */
static _Noreturn void serve(int from, int to)
{
	uint64_t count = 0, sum = 0;
	while (receive(from)) {
		if (how == BACK && !send_on(to))
			_exit(1);
		if (how == BACK)
			continue;
		sum += read_number();
		if (++count < *wanted)
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
	wrong_arguments(c, "how=%s is none of self, discard and back", name);
}

static void setup(struct context *c)
{
	int there[2], back[2];
	parse(c);
	signal(SIGPIPE, SIG_IGN); /* a child that died is an error of write() */
	wanted = mmap(NULL, sizeof *wanted, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (wanted == MAP_FAILED || pipe2(there, O_CLOEXEC) != 0 || pipe2(back, O_CLOEXEC) != 0) {
		failed(c, "setup");
		return;
	}
	out = there[1];
	in = how == SELF ? there[0] : back[0];
	if (how == SELF)
		return;
	child = fork_peer(c);
	if (child < 0)
		failed(c, "fork");
	if (child == 0) {
		close(there[1]);
		close(back[0]);
		serve(there[0], back[1]);
	}
	close(there[0]);
	close(back[1]);
}

static void prepare(struct context *c, uint64_t n)
{
	(void)c;
	*wanted = n;
}

static void run(struct context *c, uint64_t n, uint64_t *check)
{
	uint64_t sum = 0;
	for (uint64_t i = 1; i <= n; i++) {
		write_number((uint32_t)i);
		if (!send_on(out)) {
			failed(c, "write");
			return;
		}
		if (how == DISCARD)
			continue;
		if (!receive(in)) {
			failed_because(c, "read", "message %llu did not come back whole", (unsigned long long)i);
			return;
		}
		sum += read_number();
	}
	if (how == DISCARD && read(in, &sum, sizeof sum) != sizeof sum)
		failed_because(c, "read", "the child does not say that it has read the last message");
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
