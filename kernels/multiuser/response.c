/* multiuser/response: how soon one user sees what is typed, while others keep the machine at work.
 *
 * One operation is one key in an editor's insert mode, every interval_ms= at absolute times, from when it was due to when its letter is on the screen:
 * what a delay hides is counted. beside= says what jobs= processes do meanwhile: compute, compile (cc=), write and sync, page (memory of a file that
 * is dropped again and again), or none. Each has done a piece of work before the first sample, and all are alive at the end of
 * every sample. The user, who is no part of the machine, has real-time priority
 * where that is allowed. cpu_percent= is seen to by Gritstone: all of this in a control group with so much of a CPU.
 */
#define _GNU_SOURCE
#define TYPING 0
#include <sched.h>
#include <spawn.h>
#include <sys/mman.h>
#include <time.h>

#include "editor.h"
#include "jobs.h"

enum { LETTERS = 60 };

static uint64_t interval, next_key;
static int jobs, in_line;

static void begin(struct context *c, const struct user *u)
{
	(void)c;
	(void)u;
}

static void make_script(struct context *c)
{
	script.steps = 3;
	script.step[0].cell[0].line = 2;
	script.step[0].cell[0].text = "~";
	snprintf(script.step[0].keys, KEYS, "%s\r", editor_command(c));
	script.step[1] = (struct step){.what = "ready", .keys = "iready\r", .cell = {{1, "ready"}}};
	script.step[2].keys[0] = '\0';
	script.begin = begin;
	script.memory_kb = 8 << 10;
	script.disk_kb = 64;
}

static void setup_one(struct context *c)
{
	const struct sched_param priority = {.sched_priority = 50};
	jobs = (int)parameter_u64(c, "jobs", 0);
	interval = parameter_u64(c, "interval_ms", 20) * 1000000;
	if (jobs > MOST_JOBS || interval == 0 || interval > 1000000000)
		wrong_arguments(c, "jobs= is up to %d, interval_ms= from 1 to 1000", MOST_JOBS);
	/* Gritstone has a control group for it, or says why there is none */
	const char *unthrottled = parameter(c, "unthrottled", NULL);
	if (unthrottled != NULL) {
		skip(c, "No control group limits CPU time here: %s.", unthrottled);
		return;
	}
	setup(c);
	work_until(c, 1, 0);
	if (people == 0)
		return;
	start_jobs(c, parameter(c, "beside", "none"), jobs, parameter(c, "cc", "cc"));
	int refused = sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &priority) != 0;
	note(c, "user", "%s", refused ? "without real-time priority" : "SCHED_FIFO");
	next_key = now_ns();
}

/* Whether the key is on the screen: the letter, with the cursor behind it, or the beginning of a line. */
static int is_seen(const struct terminal *t, char key, int column)
{
	return key == '\r' ? t->column == 0 : t->column == column + 1 && t->cell[t->row][column] == key;
}

static void press(struct context *c, struct user *u)
{
	char key = in_line == LETTERS ? '\r' : (char)('a' + in_line % 26);
	int column = u->screen.column;
	next_key += interval;
	uint64_t now = now_ns();
	if (next_key > now) {
		const struct timespec span = {(time_t)((next_key - now) / 1000000000), (long)((next_key - now) % 1000000000)};
		nanosleep(&span, NULL);
	}
	u->sent = next_key;
	in_line = in_line == LETTERS ? 0 : in_line + 1;
	if (!type(c, u, &key, 1))
		return;
	while (people > 0 && !is_seen(&u->screen, key, column)) {
		struct epoll_event event;
		if (epoll_wait(gate, &event, 1, 1000) > 0 && look(u) != 0)
			lost(c, u, "the editor has ended");
		look_for_the_lost(c);
	}
	record(c, next_key, now_ns());
}

static void run_keys(struct context *c, uint64_t n, uint64_t *check)
{
	for (uint64_t i = 0; i < n && people > 0; i++, ++*check)
		press(c, user);
}

/* No job ends by itself. */
static void finish(struct context *c, uint64_t n, uint64_t *check)
{
	(void)n;
	(void)check;
	for (int i = 0; people > 0 && i < jobs; i++)
		if (waitpid(job[i], NULL, WNOHANG) != 0)
			failed_because(c, "jobs", "a process that keeps the machine at work has ended: is the disk full?");
}

static uint64_t expect_keys(struct context *c, uint64_t n)
{
	(void)c;
	return n;
}

const struct kernel kernel = {.name = "multiuser/response",
			      .setup = setup_one,
			      .run = run_keys,
			      .finish = finish,
			      .expect = expect_keys,
			      .teardown = teardown,
			      .children = CHILDREN_TOO};
