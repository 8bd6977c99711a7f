/* Devices of infinite speed: what is written to them is taken at once, and nothing happens with it.
 *
 * The document had a dummy on the instrument bus (HPIB) and a parallel interface whose output is its input (PIC). Neither is left on
 * machines of today. device=pty stands for the first: a terminal without a terminal, the byte device with a driver of its own
 * that every machine has. device=pipe stands for the second: the shortest way for bytes through the kernel.
 */
#ifndef GRITSTONE_RT_DEVICE_H
#define GRITSTONE_RT_DEVICE_H

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "../runtime/pty.h"

/* What a user writes to, and what the device takes it from. */
struct device {
	int user, far;
	int is_pty;
};

/* flags: of pipe2, for a pipe. */
static inline void open_device(struct context *c, struct device *d, int flags)
{
	const char *name = parameter(c, "device", "");
	int ends[2];
	if (strcmp(name, "pty") == 0) {
		d->is_pty = 1;
		open_pty(c, &d->user, &d->far);
	} else if (strcmp(name, "pipe") != 0) {
		wrong_arguments(c, "device=%s is none of pty and pipe", name);
	} else if (pipe2(ends, O_CLOEXEC | flags) != 0) {
		failed(c, "pipe2");
	} else {
		d->far = ends[0];
		d->user = ends[1];
	}
}

#endif
