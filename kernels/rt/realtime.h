/* Real-time setup: priority, locked memory, no deep idle states.
 *
 * SCHED_FIFO defines these benchmarks: without it they are skipped. Locked memory and /dev/cpu_dma_latency are used where permitted, and
 * noted with the result.
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

/* PM QoS: no idle state with a longer exit latency (us) while the file is open, i.e. until the process exits. */
static inline void hold_cpu_awake(struct context *c)
{
	const int32_t latency = 0;
	int file = open("/dev/cpu_dma_latency", O_WRONLY | O_CLOEXEC);
	if (file >= 0 && write(file, &latency, sizeof latency) == sizeof latency)
		note(c, "cpu_dma_latency", "held at %d us", (int)latency);
	else
		note(c, "cpu_dma_latency", "not held: %s", strerror(errno));
}

static inline int set_fifo(int priority)
{
	const struct sched_param parameters = {.sched_priority = priority};
	return sched_setscheduler(0, SCHED_FIFO, &parameters);
}

/* Sets SCHED_FIFO with priority=, locks memory, holds the CPU awake. Returns the priority. priority=0: an ordinary time-shared process, but
 * without timer slack. */
static inline int become_realtime(struct context *c)
{
	int priority = (int)parameter_u64(c, "priority", 0);
	int lowest = sched_get_priority_min(SCHED_FIFO), highest = sched_get_priority_max(SCHED_FIFO);
	if (priority != 0 && (priority <= lowest || priority > highest))
		wrong_arguments(c, "priority=%d is not between %d and %d", priority, lowest + 1, highest);
	if (priority == 0) {
		prctl(PR_SET_TIMERSLACK, 1UL);
	} else if (set_fifo(priority) != 0) {
		skip(c, "real-time priority is not permitted (SCHED_FIFO %d: %s); run as root, or have `ulimit -r %d` allowed", priority,
		     strerror(errno), priority);
		return 0;
	}
	if (mlockall(MCL_CURRENT | MCL_FUTURE) != 0)
		note(c, "memory", "not locked: %s", strerror(errno));
	hold_cpu_awake(c);
	return priority;
}

#endif
