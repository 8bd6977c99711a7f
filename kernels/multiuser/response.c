/* multiuser/response: keystroke response time of one user under background load.
 *
 * One operation is one key in an editor's insert mode, every interval_ms= at fixed times, from its due time until its letter is on the
 * screen (no coordinated omission). beside= is the kind of jobs= background processes: compute, compile (cc=), write (with fdatasync), page
 * (a file dropped from the page cache again and again), or none. Each completes a unit of work before the first sample, and all are alive
 * at the end of every sample. The process that plays the user has real-time priority where permitted. cpu_percent= is applied by Gritstone:
 * a control group with this CPU limit around the launch.
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
static int jobs, letters_in_line;

static void prepare_files(struct context *c, const struct user *u)
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
	script.prepare_files = prepare_files;
	script.memory_kb = 8 << 10;
	script.disk_kb = 64;
}

static void setup_response(struct context *c)
{
	const struct sched_param priority = {.sched_priority = 50};
	jobs = (int)parameter_u64(c, "jobs", 0);
	interval = parameter_u64(c, "interval_ms", 20) * 1000000;
	if (jobs > MAX_JOBS || interval == 0 || interval > 1000000000)
		wrong_arguments(c, "jobs= is up to %d, interval_ms= from 1 to 1000", MAX_JOBS);
	/* set by Gritstone if there is no control group */
	const char *unthrottled = parameter(c, "unthrottled", NULL);
	if (unthrottled != NULL) {
		skip(c, "No control group limits CPU time here: %s.", unthrottled);
		return;
	}
	setup(c);
	run_transactions(c, 1, 0);
	if (logged_in == 0)
		return;
	start_jobs(c, parameter(c, "beside", "none"), jobs, parameter(c, "cc", "cc"));
	int refused = sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &priority) != 0;
	note(c, "user", "%s", refused ? "without real-time priority" : "SCHED_FIFO");
	next_key = now_ns();
}

/* The letter with the cursor after it, or, for the return key, the cursor in the first column. */
static int is_displayed(const struct terminal *t, char key, int column)
{
	return key == '\r' ? t->column == 0 : t->column == column + 1 && t->cell[t->row][column] == key;
}

static void press_key(struct context *c, struct user *u)
{
	char key = letters_in_line == LETTERS ? '\r' : (char)('a' + letters_in_line % 26);
	int column = u->screen.column;
	next_key += interval;
	uint64_t now = now_ns();
	if (next_key > now) {
		const struct timespec span = {(time_t)((next_key - now) / 1000000000), (long)((next_key - now) % 1000000000)};
		nanosleep(&span, NULL);
	}
	u->sent = next_key;
	letters_in_line = letters_in_line == LETTERS ? 0 : letters_in_line + 1;
	if (!type_keys(c, u, &key, 1))
		return;
	while (logged_in > 0 && !is_displayed(&u->screen, key, column)) {
		struct epoll_event event;
		if (epoll_wait(epoll_fd, &event, 1, 1000) > 0 && read_terminal(u) != 0)
			fail_user(c, u, "the editor has exited");
		check_timeouts(c);
	}
	record(c, next_key, now_ns());
}

static void run_keys(struct context *c, uint64_t n, uint64_t *check)
{
	for (uint64_t i = 0; i < n && logged_in > 0; i++, ++*check)
		press_key(c, user);
}

static void finish(struct context *c, uint64_t n, uint64_t *check)
{
	(void)n;
	(void)check;
	for (int i = 0; logged_in > 0 && i < jobs; i++)
		if (waitpid(job[i], NULL, WNOHANG) != 0)
			failed_because(c, "jobs", "a background process has exited: is the disk full?");
}

static uint64_t expect_keys(struct context *c, uint64_t n)
{
	(void)c;
	return n;
}

const struct kernel kernel = {.name = "multiuser/response",
			      .setup = setup_response,
			      .run = run_keys,
			      .finish = finish,
			      .expect = expect_keys,
			      .teardown = teardown,
			      .children = CHILDREN_TOO};
