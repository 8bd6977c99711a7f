/* sched/ring/...: context switches: a token circulates in a ring of processes=, each of which reads it from a pipe, sums bytes= of its own
 * memory, and writes it to the next pipe. One operation is one round, with as many hand-overs as processes. A ring of one process does the
 * same work without a switch.
 *
 * The token accumulates hand-overs and memory sums, which verifies that no process was skipped.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../runtime/kernel.h"

#define MAX_PROCESSES 256

struct token {
	uint64_t hops, sum;
};

static unsigned processes;
static uint64_t words; /* working set of a process */
static uint64_t *memory;
static int in, out;
static pid_t child[MAX_PROCESSES];

static uint64_t word_value(uint64_t p, uint64_t i)
{
	return (p + 1) * 1000003 + i;
}

static int forward(struct token *t)
{
	uint64_t sum = 0;
	CLOBBER();
	for (uint64_t i = 0; i < words; i++)
		sum += memory[i];
	t->hops++;
	t->sum += sum;
	return write(out, t, sizeof *t) == sizeof *t;
}

static int receive(struct token *t)
{
	return read(in, t, sizeof *t) == sizeof *t;
}

/* Keeps the pipe ends of process p and closes all others, so that the ring breaks when a process dies. */
static void select_ends(int (*pipes)[2], unsigned p)
{
	in = pipes[p][0];
	out = pipes[(p + 1) % processes][1];
	for (unsigned i = 0; i < processes; i++)
		for (int end = 0; end < 2; end++)
			if (pipes[i][end] != in && pipes[i][end] != out)
				close(pipes[i][end]);
}

/* After the fork, so that no memory is shared. */
static int allocate_memory(unsigned p)
{
	memory = malloc((words + 1) * sizeof *memory);
	for (uint64_t i = 0; i < words && memory != NULL; i++)
		memory[i] = word_value(p, i);
	return memory != NULL;
}

static _Noreturn void serve(int (*pipes)[2], unsigned p)
{
	struct token t;
	select_ends(pipes, p);
	if (!allocate_memory(p))
		_exit(1);
	while (receive(&t) && forward(&t))
		;
	_exit(0);
}

static void setup(struct context *c)
{
	static int pipes[MAX_PROCESSES][2];
	processes = (unsigned)parameter_u64(c, "processes", 0);
	words = parameter_u64(c, "bytes", 0) / sizeof *memory;
	if (processes < 1 || processes > MAX_PROCESSES)
		wrong_arguments(c, "processes=%u is not between 1 and %d", processes, MAX_PROCESSES);
	signal(SIGPIPE, SIG_IGN); /* a broken ring shows as an error of write() */
	for (unsigned p = 0; p < processes; p++)
		if (pipe2(pipes[p], O_CLOEXEC) != 0) {
			failed(c, "pipe2");
			return;
		}
	for (unsigned p = 1; p < processes; p++) {
		child[p] = fork_peer(c);
		if (child[p] == 0)
			serve(pipes, p);
		if (child[p] < 0) {
			failed(c, "fork");
			return;
		}
	}
	select_ends(pipes, 0);
	if (!allocate_memory(0))
		failed(c, "malloc");
}

static void run(struct context *c, uint64_t n, uint64_t *check)
{
	struct token t = {0, 0};
	for (uint64_t i = 0; i < n; i++)
		if (!forward(&t) || !receive(&t)) {
			failed_because(c, "read", "the token did not return: a process of the ring has exited");
			return;
		}
	*check = t.hops + t.sum;
}

static uint64_t expect(struct context *c, uint64_t n)
{
	uint64_t sum = processes;
	(void)c;
	for (uint64_t p = 0; p < processes; p++)
		for (uint64_t i = 0; i < words; i++)
			sum += word_value(p, i);
	return n * sum;
}

static void teardown(struct context *c)
{
	for (unsigned p = 1; p < processes; p++)
		if (kill(child[p], SIGKILL) != 0 || waitpid(child[p], NULL, 0) != child[p])
			failed(c, "waitpid");
}

const struct kernel kernel = {
	.name = "sched/ring",
	.setup = setup,
	.run = run,
	.expect = expect,
	.teardown = teardown,
};
