/* Devices of infinite speed: data sinks that accept writes immediately.
 *
 * The document had a dummy device on the instrument bus (HPIB) and a looped-back parallel interface (PIC), which machines of today lack.
 * device=pty stands in for the first: a pseudo-terminal, the character device with a driver that every machine has. device=pipe stands in
 * for the second: the shortest path for bytes through the kernel.
 */
#ifndef GRITSTONE_RT_DEVICE_H
#define GRITSTONE_RT_DEVICE_H

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "../runtime/pty.h"

struct device {
	int write_fd, read_fd;
	int is_pty;
};

/* flags: of pipe2(2). */
static inline void open_device(struct context *c, struct device *d, int flags)
{
	const char *name = parameter(c, "device", "");
	int ends[2];
	if (strcmp(name, "pty") == 0) {
		d->is_pty = 1;
		open_pty(c, &d->write_fd, &d->read_fd);
	} else if (strcmp(name, "pipe") != 0) {
		wrong_arguments(c, "device=%s is not pty or pipe", name);
	} else if (pipe2(ends, O_CLOEXEC | flags) != 0) {
		failed(c, "pipe2");
	} else {
		d->read_fd = ends[0];
		d->write_fd = ends[1];
	}
}

#endif
