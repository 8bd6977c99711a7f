/* A terminal without a terminal: what a user writes to comes out at the far end, as many bytes as went in. */
#ifndef GRITSTONE_TERMINAL_H
#define GRITSTONE_TERMINAL_H

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <termios.h>
#include <unistd.h>

/* Returns the call that failed, with errno; NULL when both ends are there. */
static inline const char *make_terminal(int *user, int *far)
{
	struct termios raw;
	char name[64];
	*far = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (*far < 0 || grantpt(*far) != 0 || unlockpt(*far) != 0 || ptsname_r(*far, name, sizeof name) != 0 ||
	    (*user = open(name, O_RDWR | O_NOCTTY | O_CLOEXEC)) < 0)
		return "posix_openpt";
	if (tcgetattr(*user, &raw) != 0)
		return "tcgetattr";
	cfmakeraw(&raw);
	return tcsetattr(*user, TCSANOW, &raw) == 0 ? NULL : "tcsetattr";
}

#endif
