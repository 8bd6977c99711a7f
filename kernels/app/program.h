/* Common part of csim, plagen and router. Each is a whole program as of 1987: it reads files, computes, and writes a file. An operation is
 * one run; its result is appended, so that all results can be checked after timing.
 *
 * The input files are written to the launch's directory, untimed. All memory is static: an operation has no page faults after the first,
 * and makes system calls only for its files.
 */
#ifndef GRITSTONE_APP_PROGRAM_H
#define GRITSTONE_APP_PROGRAM_H

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../runtime/draw.h"
#include "../runtime/kernel.h"

#define MAX_TEXT (1 << 20) /* maximum bytes of an input file, or of one operation's output */

/* A file in memory, for parsing or appending. */
struct text {
	size_t length;
	const char *cursor;
	char bytes[MAX_TEXT + 1];
};

static inline void append_text(struct context *c, struct text *t, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Outside the timed region, or for little text. */
static inline void append_text(struct context *c, struct text *t, const char *format, ...)
{
	va_list arguments;
	size_t available = sizeof t->bytes - t->length;
	va_start(arguments, format);
	int length = vsnprintf(t->bytes + t->length, available, format, arguments);
	va_end(arguments);
	if (length < 0 || (size_t)length >= available)
		failed_because(c, "text", "a file of more than %d bytes", MAX_TEXT);
	else
		t->length += (size_t)length;
}

/* Reads a whole file by four system calls. Returns 0 on failure. */
static inline int read_text(struct context *c, struct text *t, const char *name)
{
	int file = open(name, O_RDONLY | O_CLOEXEC);
	ssize_t got = 0;
	t->length = 0;
	if (file >= 0)
		while ((got = read(file, t->bytes + t->length, MAX_TEXT - t->length)) > 0)
			t->length += (size_t)got;
	if (file < 0 || got < 0 || close(file) != 0) {
		failed(c, "read");
		return 0;
	}
	t->bytes[t->length] = '\0';
	t->cursor = t->bytes;
	return 1;
}

/* Writes by three system calls; flags are O_APPEND, or O_CREAT | O_TRUNC for a new file. Returns 0 on failure. */
static inline int write_text(struct context *c, const struct text *t, const char *name, int flags)
{
	int file = open(name, O_WRONLY | O_CLOEXEC | flags, 0600);
	ssize_t written = file < 0 ? -1 : write(file, t->bytes, t->length);
	if (written >= 0 && (size_t)written != t->length)
		errno = ENOSPC;
	if (written != (ssize_t)t->length || close(file) != 0) {
		failed(c, "write");
		return 0;
	}
	return 1;
}

/* Returns the length of the line's next word, 0 at the end of the line. */
static inline size_t next_word(struct text *t, const char **word)
{
	while (*t->cursor == ' ')
		t->cursor++;
	*word = t->cursor;
	while (*t->cursor != ' ' && *t->cursor != '\n' && *t->cursor != '\0')
		t->cursor++;
	return (size_t)(t->cursor - *word);
}

/* Returns whether there is a next line. */
static inline int next_line(struct text *t)
{
	while (*t->cursor != '\n' && *t->cursor != '\0')
		t->cursor++;
	t->cursor += *t->cursor == '\n';
	return *t->cursor != '\0';
}

#endif
