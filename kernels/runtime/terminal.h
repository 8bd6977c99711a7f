/* Pseudo-terminals in raw mode: bytes pass unchanged from slave to master. */
#ifndef GRITSTONE_TERMINAL_H
#define GRITSTONE_TERMINAL_H

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <termios.h>
#include <unistd.h>

/* Returns the name of a failed call, with errno; NULL on success. */
static inline const char *open_pty_pair(int *slave, int *master)
{
	struct termios raw;
	char name[64];
	*master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (*master < 0 || grantpt(*master) != 0 || unlockpt(*master) != 0 || ptsname_r(*master, name, sizeof name) != 0 ||
	    (*slave = open(name, O_RDWR | O_NOCTTY | O_CLOEXEC)) < 0)
		return "posix_openpt";
	if (tcgetattr(*slave, &raw) != 0)
		return "tcgetattr";
	cfmakeraw(&raw);
	return tcsetattr(*slave, TCSANOW, &raw) == 0 ? NULL : "tcsetattr";
}

#endif
