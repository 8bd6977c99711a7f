/* aim/tty1-write, aim/tty12-write: writing to one terminal, or two concurrently (hp-1987, appendix A, tests 05 and 36; table 4.1, TTY).
 *
 * One operation is one block of 512 bytes written to each of lines=1 or 2 terminals, each by a process forked in the timed region, as in
 * the document. tty=pty uses pseudo-terminals, whose masters are drained by a process each; the clock stops when the last of these has all
 * bytes. tty=/dev/...,/dev/... uses existing lines at their configured speed; the clock stops when tcdrain(3) returns.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "../runtime/pty.h"

#define BLOCK 512
#define LINES 2

static struct line {
	int slave, master;    /* master: -1 for a real line */
	int reply[2];	      /* a pipe, from the reader */
	pid_t writer, reader;
} line[LINES];
static uint64_t lines;
static char block[BLOCK];

/* Keeps the line's settings; O_NONBLOCK, so that a missing modem does not block the open. */
static void open_line(struct context *c, struct line *l, const char *name)
{
	l->master = -1;
	l->slave = open(name, O_WRONLY | O_NOCTTY | O_NONBLOCK);
	if (l->slave < 0)
		failed_because(c, "open", "tty=: %s: %s", name, strerror(errno));
	else if (!isatty(l->slave))
		failed_because(c, "isatty", "tty=: %s is not a terminal", name);
	else if (fcntl(l->slave, F_SETFL, 0) != 0)
		failed(c, "fcntl");
}

static void setup(struct context *c)
{
	char names[1024], *rest = names;
	const char *tty = parameter(c, "tty", "pty");
	lines = parameter_u64(c, "lines", 1);
	if (lines < 1 || lines > LINES || strlen(tty) >= sizeof names)
		wrong_arguments(c, "lines=%u is not 1 or 2, or tty= is too long", (unsigned)lines);
	strcpy(names, tty);
	memset(block, 'a', BLOCK);
	for (uint64_t i = 0; i < lines; i++) {
		const char *name = strcmp(tty, "pty") == 0 ? tty : strsep(&rest, ",");
		if (name == NULL)
			wrong_arguments(c, "tty=%s: this benchmark writes to two lines: --param tty=/dev/...,/dev/...", tty);
		else if (name == tty)
			open_pty(c, &line[i].slave, &line[i].master);
		else
			open_line(c, &line[i], name);
	}
	note(c, "measured", "%s", strcmp(tty, "pty") == 0 ? "pseudo-terminal" : tty);
}

static int write_blocks(const struct line *l, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		for (ssize_t done = 0, written; done < BLOCK; done += written)
			if ((written = write(l->slave, block + done, (size_t)(BLOCK - done))) <= 0)
				return -1;
	return tcdrain(l->slave);
}

/* Reports the number of bytes when all have arrived. */
static _Noreturn void drain(const struct line *l, uint64_t bytes)
{
	static char buffer[65536];
	uint64_t received = 0;
	ssize_t got;
	while (received < bytes && (got = read(l->master, buffer, sizeof buffer)) > 0)
		received += (uint64_t)got;
	_exit(write(l->reply[1], &received, sizeof received) != sizeof received);
}

static void prepare(struct context *c, uint64_t n)
{
	for (struct line *l = line; l < line + lines; l++) {
		if (pipe(l->reply) != 0) {
			failed(c, "pipe");
			return;
		}
		l->reader = l->master < 0 ? 0 : fork_peer(c);
		if (l->reader == 0 && l->master >= 0)
			drain(l, n * BLOCK);
		if (l->reader < 0)
			failed(c, "fork");
	}
}

static void run(struct context *c, uint64_t n, uint64_t *check)
{
	for (struct line *l = line; l < line + lines; l++) {
		l->writer = fork_peer(c);
		if (l->writer == 0)
			_exit(write_blocks(l, n) != 0);
		if (l->writer < 0) {
			failed(c, "fork");
			return;
		}
	}
	for (struct line *l = line; l < line + lines; l++) {
		uint64_t received = n * BLOCK;
		int status = 0;
		if (waitpid(l->writer, &status, 0) != l->writer)
			failed(c, "waitpid");
		if (status != 0)
			failed_because(c, "write", "the writer of line %d ended with status %#x", (int)(l - line) + 1, (unsigned)status);
		if (l->reader > 0 && read(l->reply[0], &received, sizeof received) != sizeof received)
			failed(c, "read");
		*check += received;
	}
}

static void finish(struct context *c, uint64_t n, uint64_t *check)
{
	(void)n;
	(void)check;
	for (struct line *l = line; l < line + lines; l++) {
		if (l->reader > 0 && waitpid(l->reader, NULL, 0) != l->reader)
			failed(c, "waitpid");
		for (int i = 0; i < 2; i++)
			close(l->reply[i]);
	}
}

static uint64_t expect(struct context *c, uint64_t n)
{
	(void)c;
	return lines * n * BLOCK;
}

const struct kernel kernel = {
	.name = "aim/tty",
	.setup = setup,
	.prepare = prepare,
	.run = run,
	.finish = finish,
	.expect = expect,
	.children = CHILDREN_TOO,
};
