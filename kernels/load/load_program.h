/* Common part of load programs: arguments, progress, exit.
 *
 * A load program works until it is killed, in its own directory, with arguments NAME=VALUE. It maintains the file `progress`: the number of
 * completed units of work as 20 digits, a blank, and the unit. It exits with 77 if it cannot work here, with 1 on failure, and the reason
 * on descriptor 2.
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

enum { SKIPPED = 77, FAILED = 1 };

__attribute__((noreturn, format(printf, 2, 3))) static inline void exit_with(int status, const char *why, ...)
{
	va_list rest;
	va_start(rest, why);
	vdprintf(2, why, rest);
	va_end(rest);
	_exit(status);
}

static inline const char *argument(int argc, char **argv, const char *name, const char *otherwise)
{
	size_t length = strlen(name);
	for (int i = 1; i < argc; i++)
		if (strncmp(argv[i], name, length) == 0 && argv[i][length] == '=')
			return argv[i] + length + 1;
	return otherwise;
}

static inline void report_progress(uint64_t done, const char *unit)
{
	static int file = -1;
	char text[128];
	if (file < 0)
		file = open("progress", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	int length = snprintf(text, sizeof text, "%020llu %s\n", (unsigned long long)done, unit);
	if (file < 0 || pwrite(file, text, (size_t)length, 0) != length)
		exit_with(FAILED, "cannot write to progress: %s", strerror(errno));
}

#endif
