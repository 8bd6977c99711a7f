/* sched/ring/...: a token goes round a ring of processes=, each of which reads it from a pipe, goes through bytes= of memory of its own
 * and writes it on. One operation is one round: as many hand-overs as there are processes. A ring of one is a process that
 * hands the token to itself: all the work, and no switch.
 *
 * The token counts its hand-overs and adds up what each process found in its memory, so that nobody can be left out.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../runtime/kernel.h"

#define MOST 256

struct token {
	uint64_t hops, sum;
};

static unsigned processes;
static uint64_t words; /* of memory of a process */
static uint64_t *set;
static int in, out;
static pid_t others[MOST];

/* What process p has in word i. */
static uint64_t value(uint64_t p, uint64_t i)
{
	return (p + 1) * 1000003 + i;
}

static int hand_on(struct token *t)
{
	uint64_t sum = 0;
	CLOBBER();
	for (uint64_t i = 0; i < words; i++)
		sum += set[i];
	t->hops++;
	t->sum += sum;
	return write(out, t, sizeof *t) == sizeof *t;
}

static int take(struct token *t)
{
	return read(in, t, sizeof *t) == sizeof *t;
}

/* Where process p reads, and where it writes; all other ends are closed, so that the ring ends when one of its processes does. */
static void keep_ends(int (*pipes)[2], unsigned p)
{
	in = pipes[p][0];
	out = pipes[(p + 1) % processes][1];
	for (unsigned i = 0; i < processes; i++)
		for (int end = 0; end < 2; end++)
			if (pipes[i][end] != in && pipes[i][end] != out)
				close(pipes[i][end]);
}

/* Memory of its own, for each process: none is shared with the one that it was forked from. */
static int fill(unsigned p)
{
	set = malloc((words + 1) * sizeof *set);
	for (uint64_t i = 0; i < words && set != NULL; i++)
		set[i] = value(p, i);
	return set != NULL;
}

static _Noreturn void serve(int (*pipes)[2], unsigned p)
{
	struct token t;
	keep_ends(pipes, p);
	if (!fill(p))
		_exit(1);
	while (take(&t) && hand_on(&t))
		;
	_exit(0);
}

static void setup(struct context *c)
{
	static int pipes[MOST][2];
	processes = (unsigned)parameter_u64(c, "processes", 0);
	words = parameter_u64(c, "bytes", 0) / sizeof *set;
	if (processes < 1 || processes > MOST)
		wrong_arguments(c, "processes=%u is not between 1 and %d", processes, MOST);
	signal(SIGPIPE, SIG_IGN); /* a ring that is broken is an error of write() */
	for (unsigned p = 0; p < processes; p++)
		if (pipe2(pipes[p], O_CLOEXEC) != 0) {
			failed(c, "pipe2");
			return;
		}
	for (unsigned p = 1; p < processes; p++) {
		others[p] = fork_peer(c);
		if (others[p] == 0)
			serve(pipes, p);
		if (others[p] < 0) {
			failed(c, "fork");
			return;
		}
	}
	keep_ends(pipes, 0);
	if (!fill(0))
		failed(c, "malloc");
}

static void run(struct context *c, uint64_t n, uint64_t *check)
{
	struct token t = {0, 0};
	for (uint64_t i = 0; i < n; i++)
		if (!hand_on(&t) || !take(&t)) {
			failed_because(c, "read", "the token did not come round: a process of the ring has ended");
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
			sum += value(p, i);
	return n * sum;
}

static void teardown(struct context *c)
{
	for (unsigned p = 1; p < processes; p++)
		if (kill(others[p], SIGKILL) != 0 || waitpid(others[p], NULL, 0) != others[p])
			failed(c, "waitpid");
}

const struct kernel kernel = {
	.name = "sched/ring",
	.setup = setup,
	.run = run,
	.expect = expect,
	.teardown = teardown,
};
