/* Users at terminals: each a shell on a pseudo-terminal of its own, in a directory of its own, with a script that it goes through again
 * and again. A script is data: what is typed, and what the screen then shows when the system is ready for more.
 *
 * A prompt carries the status of the command before it. A step is done when the prompt is back, or when the cells that it names
 * hold what it names; nothing waits for a time, and no byte is counted. All users are in one process, which sleeps until a terminal
 * has something to show.
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

/* The line of the cursor, but not the last of the screen, where editors echo what is typed. */
enum { CURSOR_LINE = 0, LAST_LINE = ROWS };
enum { KEYS = 512, PATIENCE_S = 40, MOST_STEPS = 16 };

struct step {
	const char *what; /* the kind of transaction that it is; NULL: it is none */
	char keys[KEYS];
	/* What the screen shows when it is done: a text in a line from 1, twice where one tells too little; none: the prompt. */
	struct {
		int line;
		const char *text;
	} cell[2];
	int fails;         /* whether the command is to fail */
	int needs_earlier; /* whether it needs what another command of the round has made */
};

struct user {
	int number, terminal, step, start; /* the step of the first round that it begins with */
	pid_t shell;
	uint64_t sent; /* ns: when the last key was due */
	int row, column, moved;
	uint64_t rounds, transactions;
	/* of people who type: the next key, when it is due, and whether a response is awaited */
	int key, awaits;
	uint64_t due;
	struct terminal screen;
};

/* What a family of users does. */
struct script {
	struct step step[MOST_STEPS];
	int steps;
	/* Files of a user as they are before a round, and whether they are as they must be after it; NULL where there are no rounds. */
	void (*begin)(struct context *, const struct user *);
	int (*is_done)(const struct user *);
	/* What a user takes at most, for whom there must be room beforehand. */
	uint64_t memory_kb, disk_kb;
};

static struct user *user;
static int people, gate = -1;
static struct script script;
static uint64_t transactions;

/* The path of a file of a user. */
static inline const char *file_of(const struct user *u, const char *name)
{
	static char path[128];
	snprintf(path, sizeof path, "user-%d/%s", u->number, name);
	return path;
}

/* Whether a file of a user holds just this. */
static inline int holds(const struct user *u, const char *name, const char *text, size_t length)
{
	static char bytes[1 << 18];
	int file = open(file_of(u, name), O_RDONLY | O_CLOEXEC);
	ssize_t n = file < 0 ? -1 : read(file, bytes, sizeof bytes);
	if (file >= 0)
		close(file);
	return n == (ssize_t)length && memcmp(bytes, text, length) == 0;
}

/* Kills all that is left of our descendants: shells are reaped, and what they leave comes to us. */
static inline void log_everybody_out(void)
{
	for (int i = 0; i < people; i++) {
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
	people = 0;
}

/* A user is not where the script has it: the launch fails, with what the user saw. */
__attribute__((format(printf, 3, 4))) static inline void lost(struct context *c, const struct user *u, const char *why, ...)
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
	log_everybody_out();
}

/* Makes a file of a user; what is there already is replaced. */
static inline void write_file(struct context *c, const struct user *u, const char *name, const char *text, size_t length)
{
	int file = open(file_of(u, name), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	ssize_t written = file < 0 ? -1 : write(file, text, length);
	const char *why = written < 0 ? strerror(errno) : "the disk is full";
	if (file >= 0)
		close(file);
	if (written != (ssize_t)length)
		lost(c, u, "cannot write %s: %s", name, why);
}

/* Whether the user is there. */
static inline int log_in(struct context *c, struct user *u)
{
	char name[64], directory[32];
	snprintf(directory, sizeof directory, "user-%d", u->number);
	int fd = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0 || grantpt(fd) != 0 || unlockpt(fd) != 0 || ptsname_r(fd, name, sizeof name) != 0) {
		skip(c, "No pseudo-terminal for user %d can be had here: %s. Allow more of them (sysctl kernel.pty.max), or mount devpts on /dev/pts.",
		     u->number, strerror(errno));
		return 0;
	}
	terminal_reset(&u->screen);
	u->terminal = fd;
	u->step = -1; /* the first prompt ends no transaction */
	u->sent = now_ns();
	struct epoll_event event = {.events = EPOLLIN, .data.ptr = u};
	if (mkdir(file_of(u, ""), 0700) != 0 || epoll_ctl(gate, EPOLL_CTL_ADD, fd, &event) != 0) {
		failed_because(c, "mkdir", "cannot make the directory of user %d: %s", u->number, strerror(errno));
		return 0;
	}
	pid_t parent = getpid();
	u->shell = fork();
	if (u->shell == 0)
		be_shell(name, directory, parent);
	if (u->shell < 0)
		skip(c, "No process for user %d can be had here: %s. Raise the limit (ulimit -u).", u->number, strerror(errno));
	return u->shell > 0;
}

/* Whether the cursor stands behind a prompt; the status in it. */
static inline int at_prompt(const struct terminal *t, int *status)
{
	const char *line = t->cell[t->row];
	char *end;
	if (*line != '[')
		return 0;
	*status = (int)strtol(line + 1, &end, 10);
	return end > line + 1 && strncmp(end, "]> ", 3) == 0 && t->column == (int)(end + 3 - line);
}

static inline int shows(const struct terminal *t, int line, const char *text)
{
	int row = line == CURSOR_LINE ? t->row : line - 1;
	if (line == CURSOR_LINE && row == LAST_LINE - 1)
		return 0;
	return strstr(t->cell[row], text) != NULL;
}

/* Whether what a user waits for is there. */
static inline int is_ready(struct context *c, const struct user *u)
{
	const struct step *step = u->step < 0 ? NULL : &script.step[u->step];
	int status = 0;
	int prompt = at_prompt(&u->screen, &status), waits_for_cells = step != NULL && step->cell[0].text != NULL;
	if (step != NULL && !u->moved)
		return 0;
	if (waits_for_cells && !prompt)
		return shows(&u->screen, step->cell[0].line, step->cell[0].text) &&
		       (step->cell[1].text == NULL || shows(&u->screen, step->cell[1].line, step->cell[1].text));
	if (prompt && step != NULL && (waits_for_cells || (status != 0) != step->fails))
		lost(c, u, "'%.*s' ended with status %d, and should %s", (int)strcspn(step->keys, "\r"), step->keys, status,
		     waits_for_cells ? "still be there" : step->fails ? "have failed" : "have ended well");
	return prompt;
}

/* Takes what a terminal shows; -1 where it is closed. */
static inline int look(struct user *u)
{
	char bytes[4096];
	ssize_t n = read(u->terminal, bytes, sizeof bytes);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	for (ssize_t i = 0; i < n; i++) {
		terminal_take(&u->screen, bytes[i]);
		u->moved |= u->screen.row != u->row || u->screen.column != u->column;
	}
	return n > 0 ? 0 : -1;
}

/* The next step of a user, the first of a round after the last. What a round must leave is looked at in between. */
static inline void next_step(struct context *c, struct user *u)
{
	if (u->step == script.steps - 1) {
		if ((u->rounds > 0 || u->start == 0) && !script.is_done(u)) {
			lost(c, u, "the files that a round leaves are not what they must be");
			return;
		}
		u->rounds++;
	}
	int begins = u->step < 0 || u->step == script.steps - 1;
	u->step = u->step < 0 ? u->start : (u->step + 1) % script.steps;
	if (begins)
		script.begin(c, u);
	u->row = u->screen.row;
	u->column = u->screen.column;
	u->moved = 0;
	u->key = 0;
}

static inline int type(struct context *c, struct user *u, const char *keys, size_t length)
{
	ssize_t typed = write(u->terminal, keys, length);
	if (typed != (ssize_t)length)
		lost(c, u, "the terminal takes no more keys: %s", typed < 0 ? strerror(errno) : "it is full");
	return typed == (ssize_t)length;
}

/* A step is done: a transaction, unless it is none. */
static inline void count(struct context *c, struct user *u, uint64_t now)
{
	if (u->step < 0 || script.step[u->step].what == NULL)
		return;
	record(c, u->sent, now);
	respond(c, (uint64_t)people, script.step[u->step].what, u->sent, now);
	u->transactions++;
	transactions++;
}

/* Whoever has waited too long is lost; looked at once a second. */
static inline void look_for_the_lost(struct context *c)
{
	static uint64_t looked;
	uint64_t now = now_ns();
	if (now - looked < UINT64_C(1000000000))
		return;
	looked = now;
	for (int i = 0; i < people; i++) {
		const char *keys = user[i].step < 0 ? "sh" : script.step[user[i].step].keys;
		if (now > user[i].sent && now - user[i].sent > PATIENCE_S * UINT64_C(1000000000))
			lost(c, &user[i], "nothing came of '%.*s' for %d s", (int)strcspn(keys, "\r"), keys, PATIENCE_S);
	}
}

/* Everybody works, without thought between steps, until so many transactions are done in all, or everybody has done so many rounds. */
static inline void work_until(struct context *c, uint64_t wanted, uint64_t rounds)
{
	struct epoll_event events[64];
	int behind = 0; /* the first user who has not done them yet */
	while (people > 0 && (rounds > 0 ? behind < people : transactions < wanted)) {
		int n = epoll_wait(gate, events, 64, 1000);
		for (int i = 0; i < n && people > 0 && (rounds > 0 || transactions < wanted); i++) {
			struct user *u = events[i].data.ptr;
			if (look(u) != 0)
				lost(c, u, "the shell has ended");
			if (people == 0 || !is_ready(c, u) || people == 0)
				continue;
			count(c, u, now_ns());
			next_step(c, u);
			u->sent = now_ns();
			if (people > 0)
				type(c, u, script.step[u->step].keys, strlen(script.step[u->step].keys));
		}
		while (behind < people && user[behind].rounds >= rounds)
			behind++;
		look_for_the_lost(c);
	}
}

#endif
