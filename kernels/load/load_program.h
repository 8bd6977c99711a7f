/* What the parts of a load share: arguments, how far they are, and how they end.
 *
 * A part is a process that works until it is killed, in a directory of its own. Its arguments are NAME=VALUE. As soon as it is
 * at work it keeps the file `progress` there: 20 digits, the pieces of work that are done, a blank, and what they are pieces of. A part
 * that cannot work here ends with status 77, one that fails with 1, and says why on descriptor 2.
 */
#ifndef GRITSTONE_LOAD_LOAD_PROGRAM_H
#define GRITSTONE_LOAD_LOAD_PROGRAM_H

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CANNOT = 77, FAILS = 1 };

__attribute__((noreturn, format(printf, 2, 3))) static inline void leave(int status, const char *why, ...)
{
	va_list rest;
	va_start(rest, why);
	vdprintf(2, why, rest);
	va_end(rest);
	_exit(status);
}

/* The value of an argument; `otherwise` where it is not given. */
static inline const char *argument(int argc, char **argv, const char *name, const char *otherwise)
{
	size_t length = strlen(name);
	for (int i = 1; i < argc; i++)
		if (strncmp(argv[i], name, length) == 0 && argv[i][length] == '=')
			return argv[i] + length + 1;
	return otherwise;
}

/* Says that so many pieces of work are done. */
static inline void progress(uint64_t done, const char *of)
{
	static int file = -1;
	char text[128];
	if (file < 0)
		file = open("progress", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	int length = snprintf(text, sizeof text, "%020llu %s\n", (unsigned long long)done, of);
	if (file < 0 || pwrite(file, text, (size_t)length, 0) != length)
		leave(FAILS, "cannot write to progress: %s", strerror(errno));
}

#endif
