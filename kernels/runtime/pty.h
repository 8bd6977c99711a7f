/* Pseudo-terminals for workloads. */
#ifndef GRITSTONE_PTY_H
#define GRITSTONE_PTY_H

#include <string.h>

#include "kernel.h"
#include "terminal.h"

/* In raw mode; skips if there is none. */
static inline void open_pty(struct context *c, int *slave, int *master)
{
	const char *call = open_pty_pair(slave, master);
	if (call != NULL && strcmp(call, "posix_openpt") == 0)
		skip(c, "No pseudo-terminal is available: %s. Mount devpts on /dev/pts (mount -t devpts devpts /dev/pts); if it is, "
				"allow more of them (sysctl kernel.pty.max).", strerror(errno));
	else if (call != NULL)
		failed(c, call);
}

#endif
