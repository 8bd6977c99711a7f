/* What the kernels of this family ask of the machine for themselves: real-time priority, memory that stays, an awake CPU.
 *
 * SCHED_FIFO is what their rows are about: without it they do not run, rather than print a figure of another kind. Locked memory
 * and /dev/cpu_dma_latency are had where they can be, and what was had belongs to the figure.
 */
#ifndef GRITSTONE_RT_REALTIME_H
#define GRITSTONE_RT_REALTIME_H

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "../runtime/kernel.h"

/* The kernel promises not to sleep deeper than this (microseconds) while the file is open; it goes with the process. */
static inline void hold_cpu_awake(struct context *c)
{
	const int32_t latency = 0;
	int file = open("/dev/cpu_dma_latency", O_WRONLY | O_CLOEXEC);
	if (file >= 0 && write(file, &latency, sizeof latency) == sizeof latency)
		note(c, "cpu_dma_latency", "held at %d us", (int)latency);
	else
		note(c, "cpu_dma_latency", "not held: %s", strerror(errno));
}

static inline int use_fifo(int priority)
{
	const struct sched_param wanted = {.sched_priority = priority};
	return sched_setscheduler(0, SCHED_FIFO, &wanted);
}

/* This process at SCHED_FIFO with the priority= of the entry, its memory in place, its CPU awake. Returns the priority.
 * priority=0 is the row of a process like any other: it stays with the time-shared ones, but its timers are as exact. */
static inline int go_realtime(struct context *c)
{
	int priority = (int)parameter_u64(c, "priority", 0);
	int lowest = sched_get_priority_min(SCHED_FIFO), highest = sched_get_priority_max(SCHED_FIFO);
	if (priority != 0 && (priority <= lowest || priority > highest))
		wrong_arguments(c, "priority=%d is not between %d and %d", priority, lowest + 1, highest);
	if (priority == 0) {
		prctl(PR_SET_TIMERSLACK, 1UL);
	} else if (use_fifo(priority) != 0) {
		skip(c, "real-time priority is refused (SCHED_FIFO %d: %s); run as root, or have `ulimit -r %d` allowed", priority,
		     strerror(errno), priority);
		return 0;
	}
	if (mlockall(MCL_CURRENT | MCL_FUTURE) != 0)
		note(c, "memory", "not locked: %s", strerror(errno));
	hold_cpu_awake(c);
	return priority;
}

#endif
