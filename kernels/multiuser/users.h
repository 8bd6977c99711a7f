/* Users at terminals: each has a shell on its own pseudo-terminal, its own directory, and a script that it repeats. A script is data: keys
 * to type, and the screen content that completes a step.
 *
 * The prompt shows the status of the previous command. A step is complete when the prompt is back, or when the screen shows the step's
 * text; there are no timed waits and no byte counts. All users are in one process, which blocks in epoll_wait(2) on all terminals.
 */
#ifndef GRITSTONE_MULTIUSER_USERS_H
#define GRITSTONE_MULTIUSER_USERS_H

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../runtime/kernel.h"
#include "session.h"
#include "terminal.h"

/* CURSOR_LINE excludes the last line, where editors echo typed commands. */
enum { CURSOR_LINE = 0, LAST_LINE = ROWS };
enum { KEYS = 512, TIMEOUT_S = 40, MAX_STEPS = 16 };

struct step {
	const char *what; /* kind of transaction; NULL: none */
	char keys[KEYS];
	/* Screen content at completion: texts in lines (from 1); none: the prompt. */
	struct {
		int line;
		const char *text;
	} cell[2];
	int expect_failure;
	int depends_on_earlier; /* on files of an earlier command of the round */
};

struct user {
	int number, terminal, step, start; /* start: first step of the first round */
	pid_t shell;
	uint64_t sent; /* due time of the last key, ns */
	int row, column, cursor_moved;
	uint64_t rounds, transactions;
	/* with TYPING: the next key and its due time */
	int key, awaits_response;
	uint64_t due;
	struct terminal screen;
};

struct script {
	struct step step[MAX_STEPS];
	int steps;
	/* Writes a user's files before a round, and checks them after it; files_are_correct is NULL without rounds. */
	void (*prepare_files)(struct context *, const struct user *);
	int (*files_are_correct)(const struct user *);
	/* Maximum per user, checked before login. */
	uint64_t memory_kb, disk_kb;
};

static struct user *user;
static int logged_in, epoll_fd = -1;
static struct script script;
static uint64_t transactions;

static inline const char *user_path(const struct user *u, const char *name)
{
	static char path[128];
	snprintf(path, sizeof path, "user-%d/%s", u->number, name);
	return path;
}

static inline int file_equals(const struct user *u, const char *name, const char *text, size_t length)
{
	static char bytes[1 << 18];
	int file = open(user_path(u, name), O_RDONLY | O_CLOEXEC);
	ssize_t n = file < 0 ? -1 : read(file, bytes, sizeof bytes);
	if (file >= 0)
		close(file);
	return n == (ssize_t)length && memcmp(bytes, text, length) == 0;
}

/* Kills all descendants: as subreaper, this process adopts what the shells leave. */
static inline void log_out_all(void)
{
	for (int i = 0; i < logged_in; i++) {
		if (user[i].shell > 0)
			kill(user[i].shell, SIGKILL);
		if (user[i].terminal > 0)
			close(user[i].terminal);
		user[i].shell = user[i].terminal = 0;
	}
	for (;;) {
		char path[64];
		int left;
		while ((left = (int)waitpid(-1, NULL, WNOHANG)) > 0)
			;
		if (left < 0)
			break;
		snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
		FILE *children = fopen(path, "re");
		while (children != NULL && fscanf(children, "%d", &left) == 1)
			kill(left, SIGKILL);
		if (children == NULL)
			break;
		fclose(children);
		usleep(1000);
	}
	logged_in = 0;
}

/* Fails the launch with the last line on the user's screen. */
__attribute__((format(printf, 3, 4))) static inline void fail_user(struct context *c, const struct user *u, const char *why, ...)
{
	char text[256], line[COLUMNS + 1];
	va_list rest;
	va_start(rest, why);
	vsnprintf(text, sizeof text, why, rest);
	va_end(rest);
	int row = u->screen.row;
	while (row > 0 && strspn(u->screen.cell[row], " ") == COLUMNS)
		row--;
	memcpy(line, u->screen.cell[row > 0 && u->screen.column < 10 ? row - 1 : row], sizeof line);
	for (int end = COLUMNS; end > 0 && line[end - 1] == ' ';)
		line[--end] = '\0';
	failed_because(c, "user", "user %d: %s; the terminal showed: %s", u->number, text, line);
	log_out_all();
}

static inline void write_file(struct context *c, const struct user *u, const char *name, const char *text, size_t length)
{
	int file = open(user_path(u, name), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	ssize_t written = file < 0 ? -1 : write(file, text, length);
	const char *why = written < 0 ? strerror(errno) : "the disk is full";
	if (file >= 0)
		close(file);
	if (written != (ssize_t)length)
		fail_user(c, u, "cannot write %s: %s", name, why);
}

/* Returns 0 on failure. */
static inline int log_in(struct context *c, struct user *u)
{
	char name[64], directory[32];
	snprintf(directory, sizeof directory, "user-%d", u->number);
	int fd = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0 || grantpt(fd) != 0 || unlockpt(fd) != 0 || ptsname_r(fd, name, sizeof name) != 0) {
		skip(c, "No pseudo-terminal for user %d: %s. Allow more of them (sysctl kernel.pty.max), or mount devpts on /dev/pts.",
		     u->number, strerror(errno));
		return 0;
	}
	terminal_reset(&u->screen);
	u->terminal = fd;
	u->step = -1; /* the first prompt completes no transaction */
	u->sent = now_ns();
	struct epoll_event event = {.events = EPOLLIN, .data.ptr = u};
	if (mkdir(user_path(u, ""), 0700) != 0 || epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &event) != 0) {
		failed_because(c, "mkdir", "cannot create the directory of user %d: %s", u->number, strerror(errno));
		return 0;
	}
	pid_t parent = getpid();
	u->shell = fork();
	if (u->shell == 0)
		exec_shell(name, directory, parent);
	if (u->shell < 0)
		skip(c, "No process for user %d: %s. Raise the limit (ulimit -u).", u->number, strerror(errno));
	return u->shell > 0;
}

/* Whether the cursor is right after a prompt, whose status goes to *status. */
static inline int is_at_prompt(const struct terminal *t, int *status)
{
	const char *line = t->cell[t->row];
	char *end;
	if (*line != '[')
		return 0;
	*status = (int)strtol(line + 1, &end, 10);
	return end > line + 1 && strncmp(end, "]> ", 3) == 0 && t->column == (int)(end + 3 - line);
}

static inline int line_contains(const struct terminal *t, int line, const char *text)
{
	int row = line == CURSOR_LINE ? t->row : line - 1;
	if (line == CURSOR_LINE && row == LAST_LINE - 1)
		return 0;
	return strstr(t->cell[row], text) != NULL;
}

/* Whether the current step is complete. */
static inline int is_ready(struct context *c, const struct user *u)
{
	const struct step *step = u->step < 0 ? NULL : &script.step[u->step];
	int status = 0;
	int prompt = is_at_prompt(&u->screen, &status), waits_for_cells = step != NULL && step->cell[0].text != NULL;
	if (step != NULL && !u->cursor_moved)
		return 0;
	if (waits_for_cells && !prompt)
		return line_contains(&u->screen, step->cell[0].line, step->cell[0].text) &&
		       (step->cell[1].text == NULL || line_contains(&u->screen, step->cell[1].line, step->cell[1].text));
	if (prompt && step != NULL && (waits_for_cells || (status != 0) != step->expect_failure))
		fail_user(c, u, "'%.*s' ended with status %d, but should %s", (int)strcspn(step->keys, "\r"), step->keys, status,
		     waits_for_cells ? "still be running" : step->expect_failure ? "have failed" : "have succeeded");
	return prompt;
}

/* Feeds output to the emulator. Returns -1 if the terminal is closed. */
static inline int read_terminal(struct user *u)
{
	char bytes[4096];
	ssize_t n = read(u->terminal, bytes, sizeof bytes);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	for (ssize_t i = 0; i < n; i++) {
		terminal_feed(&u->screen, bytes[i]);
		u->cursor_moved |= u->screen.row != u->row || u->screen.column != u->column;
	}
	return n > 0 ? 0 : -1;
}

/* Advances to the next step; checks the files at the end of a round. */
static inline void next_step(struct context *c, struct user *u)
{
	if (u->step == script.steps - 1) {
		if ((u->rounds > 0 || u->start == 0) && !script.files_are_correct(u)) {
			fail_user(c, u, "the files at the end of a round are wrong");
			return;
		}
		u->rounds++;
	}
	int starts_round = u->step < 0 || u->step == script.steps - 1;
	u->step = u->step < 0 ? u->start : (u->step + 1) % script.steps;
	if (starts_round)
		script.prepare_files(c, u);
	u->row = u->screen.row;
	u->column = u->screen.column;
	u->cursor_moved = 0;
	u->key = 0;
}

static inline int type_keys(struct context *c, struct user *u, const char *keys, size_t length)
{
	ssize_t typed = write(u->terminal, keys, length);
	if (typed != (ssize_t)length)
		fail_user(c, u, "cannot write to the terminal: %s", typed < 0 ? strerror(errno) : "its buffer is full");
	return typed == (ssize_t)length;
}

static inline void complete_step(struct context *c, struct user *u, uint64_t now)
{
	if (u->step < 0 || script.step[u->step].what == NULL)
		return;
	record(c, u->sent, now);
	respond(c, (uint64_t)logged_in, script.step[u->step].what, u->sent, now);
	u->transactions++;
	transactions++;
}

/* Runs once per second. A user who thinks has a key that is due later. */
static inline void check_timeouts(struct context *c)
{
	static uint64_t last_check;
	uint64_t now = now_ns();
	if (now - last_check < UINT64_C(1000000000))
		return;
	last_check = now;
	for (int i = 0; i < logged_in; i++) {
		const char *keys = user[i].step < 0 ? "sh" : script.step[user[i].step].keys;
		const uint64_t since = user[i].due > user[i].sent ? user[i].due : user[i].sent;
		if (now > since && now - since > TIMEOUT_S * UINT64_C(1000000000))
			fail_user(c, &user[i], "no response to '%.*s' for %d s", (int)strcspn(keys, "\r"), keys, TIMEOUT_S);
	}
}

/* Runs all users without think time up to a total of `wanted` transactions, or until each has completed `rounds` rounds. */
static inline void run_transactions(struct context *c, uint64_t target, uint64_t rounds)
{
	struct epoll_event events[64];
	int slowest = 0; /* first user with fewer rounds */
	while (logged_in > 0 && (rounds > 0 ? slowest < logged_in : transactions < target)) {
		int n = epoll_wait(epoll_fd, events, 64, 1000);
		for (int i = 0; i < n && logged_in > 0 && (rounds > 0 || transactions < target); i++) {
			struct user *u = events[i].data.ptr;
			if (read_terminal(u) != 0)
				fail_user(c, u, "the shell has exited");
			if (logged_in == 0 || !is_ready(c, u) || logged_in == 0)
				continue;
			complete_step(c, u, now_ns());
			next_step(c, u);
			u->sent = now_ns();
			if (logged_in > 0)
				type_keys(c, u, script.step[u->step].keys, strlen(script.step[u->step].keys));
		}
		while (slowest < logged_in && user[slowest].rounds >= rounds)
			slowest++;
		check_timeouts(c);
	}
}

#endif
