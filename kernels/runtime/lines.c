/* The protocol: lines of `word key=value ...` on descriptor 3, collected in memory and written between regions. */
#define _GNU_SOURCE
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "runtime.h"

#define PROTOCOL_FD 3
#define BUFFER_BYTES (1u << 18)

static char *buffer;
static size_t used;

void *private_memory(size_t bytes)
{
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		return NULL;
	madvise(memory, bytes, MADV_DONTFORK);
	memset(memory, 0, bytes);
	return memory;
}

void flush_lines(void)
{
	size_t done = 0;
	while (done < used) {
		ssize_t wrote = write(PROTOCOL_FD, buffer + done, used - done);
		if (wrote <= 0)
			_exit(3); /* the harness has closed the pipe */
		done += (size_t)wrote;
	}
	used = 0;
}

static void append(const char *text, size_t length)
{
	if (buffer == NULL && (buffer = private_memory(BUFFER_BYTES)) == NULL)
		_exit(4);
	if (used + length > BUFFER_BYTES)
		flush_lines();
	if (length > BUFFER_BYTES)
		_exit(5);
	memcpy(buffer + used, text, length);
	used += length;
}

void line(const char *format, ...)
{
	char text[1024];
	va_list arguments;
	va_start(arguments, format);
	int length = vsnprintf(text, sizeof text, format, arguments);
	va_end(arguments);
	append(text, (size_t)length < sizeof text ? (size_t)length : sizeof text - 1);
}

/* Escapes backslash and control characters as \xHH, so that the text stays on one line. */
void line_text(const char *text)
{
	for (; *text != '\0'; text++) {
		unsigned char c = (unsigned char)*text;
		if (c < ' ' || c == 0x7f || c == '\\')
			line("\\x%02x", c);
		else
			append(text, 1);
	}
}

void end_line(void)
{
	append("\n", 1);
}

void line_usage(const struct usage *u)
{
	line(" user=%" PRIu64 " system=%" PRIu64 " cpu=%" PRIu64 " vcsw=%" PRIu64 " icsw=%" PRIu64 " minflt=%" PRIu64
	     " majflt=%" PRIu64 " inblock=%" PRIu64 " oublock=%" PRIu64 " migrations=%" PRIu64,
	     u->user, u->system, u->cpu, u->vcsw, u->icsw, u->minflt, u->majflt, u->inblock, u->oublock,
	     u->migrations);
}

void line_sample(const char *word, const struct sample *s, const struct probe *p)
{
	line("%s n=%" PRIu64 " wall=%" PRIu64 " pace=%" PRIu64 " wide=%" PRIu64, word, s->n, s->wall, p->pace,
	     p->wide);
	line_usage(&s->usage);
	end_line();
}
