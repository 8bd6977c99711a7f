/* What the programs of app/ share. Each is a whole program as of 1987: it reads its files, works, and writes a file. An operation is
 * the program once, and its result is appended, so that what every operation wrote can be looked at when the clock has stopped.
 *
 * The input files are made in the directory of the launch, untimed. All memory is static: an operation finds its pages touched by the
 * one before, and enters the system for its files alone.
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

#define MOST_TEXT (1 << 20) /* bytes of an input file, or of what one operation writes */

/* A file in memory: read from the front, or written at the end. */
struct text {
	size_t length;
	const char *at; /* what is read next */
	char bytes[MOST_TEXT + 1];
};

static inline void put(struct context *c, struct text *t, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Text at the end, up to what fits. Untimed, where formats cost nothing that is measured. */
static inline void put(struct context *c, struct text *t, const char *format, ...)
{
	va_list arguments;
	size_t room = sizeof t->bytes - t->length;
	va_start(arguments, format);
	int length = vsnprintf(t->bytes + t->length, room, format, arguments);
	va_end(arguments);
	if (length < 0 || (size_t)length >= room)
		failed_because(c, "text", "a file of more than %d bytes", MOST_TEXT);
	else
		t->length += (size_t)length;
}

/* The whole file, or 0. Four system calls. */
static inline int read_text(struct context *c, struct text *t, const char *name)
{
	int file = open(name, O_RDONLY | O_CLOEXEC);
	ssize_t got = 0;
	t->length = 0;
	if (file >= 0)
		while ((got = read(file, t->bytes + t->length, MOST_TEXT - t->length)) > 0)
			t->length += (size_t)got;
	if (file < 0 || got < 0 || close(file) != 0) {
		failed(c, "read");
		return 0;
	}
	t->bytes[t->length] = '\0';
	t->at = t->bytes;
	return 1;
}

/* Adds the text to a file: flags are O_APPEND, or O_CREAT | O_TRUNC for a new one. Three system calls. */
static inline int write_text(struct context *c, const struct text *t, const char *name, int flags)
{
	int file = open(name, O_WRONLY | O_CLOEXEC | flags, 0600);
	ssize_t put = file < 0 ? -1 : write(file, t->bytes, t->length);
	if (put >= 0 && (size_t)put != t->length)
		errno = ENOSPC;
	if (put != (ssize_t)t->length || close(file) != 0) {
		failed(c, "write");
		return 0;
	}
	return 1;
}

/* The next word of this line, and its length; 0 at the end of the line. */
static inline size_t next_word(struct text *t, const char **word)
{
	while (*t->at == ' ')
		t->at++;
	*word = t->at;
	while (*t->at != ' ' && *t->at != '\n' && *t->at != '\0')
		t->at++;
	return (size_t)(t->at - *word);
}

/* Goes on to the next line; whether there is one. */
static inline int next_line(struct text *t)
{
	while (*t->at != '\n' && *t->at != '\0')
		t->at++;
	t->at += *t->at == '\n';
	return *t->at != '\0';
}

#endif
