/* A terminal without a terminal, for kernels that write to one. */
#ifndef GRITSTONE_PTY_H
#define GRITSTONE_PTY_H

#include <string.h>

#include "kernel.h"
#include "terminal.h"

/* What a user writes to, and where it comes out. */
static inline void open_pty(struct context *c, int *user, int *far)
{
	const char *call = make_terminal(user, far);
	if (call != NULL && strcmp(call, "posix_openpt") == 0)
		skip(c, "No pseudo-terminal can be had here: %s. Mount devpts on /dev/pts (mount -t devpts devpts /dev/pts); if it is, "
				"allow more of them (sysctl kernel.pty.max).", strerror(errno));
	else if (call != NULL)
		failed(c, call);
}

#endif
