/* A terminal without a terminal, for kernels that write to one. */
#ifndef GRITSTONE_PTY_H
#define GRITSTONE_PTY_H

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "kernel.h"

/* What a user writes to, and where it comes out: as many bytes as went in. */
static inline void open_pty(struct context *c, int *user, int *far)
{
	struct termios raw;
	char name[64];
	*far = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (*far < 0 || grantpt(*far) != 0 || unlockpt(*far) != 0 || ptsname_r(*far, name, sizeof name) != 0 ||
		(*user = open(name, O_RDWR | O_NOCTTY | O_CLOEXEC)) < 0) {
		skip(c, "No pseudo-terminal can be had here: %s. Mount devpts on /dev/pts (mount -t devpts devpts /dev/pts); if it is, "
				"allow more of them (sysctl kernel.pty.max).", strerror(errno));
		return;
	}
	if (tcgetattr(*user, &raw) != 0) {
		failed(c, "tcgetattr");
		return;
	}
	cfmakeraw(&raw);
	if (tcsetattr(*user, TCSANOW, &raw) != 0)
		failed(c, "tcsetattr");
}

#endif
