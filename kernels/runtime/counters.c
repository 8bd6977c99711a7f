/* Hardware counters, by perf_event_open(2), around a separate region after the samples, since an open counter slows down context switches
 * and forks of its process. They count the process and its new children.
 *
 * Two groups, each scheduled as a unit. If the processor has too few counters, groups are multiplexed, and counts are scaled by
 * time_enabled over time_running. If counting in the kernel is not permitted, only user mode is counted. Unavailable counters are omitted.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "runtime.h"

#define GROUPS 2
#define LOAD_MISSES(cache) (PERF_COUNT_HW_CACHE_##cache | PERF_COUNT_HW_CACHE_OP_READ << 8 | PERF_COUNT_HW_CACHE_RESULT_MISS << 16)

/* In the order of the protocol. */
static const struct {
	const char *name, *in_user_mode;
	uint32_t type;
	uint64_t config;
	int group;
} counters[] = {
	{"instructions", NULL, PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, 0},
	{NULL, "user_instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, 0},
	{"cycles", NULL, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, 0},
	{NULL, "user_cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, 0},
	{"branch_misses", "branch_misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES, 0},
	{"cache_misses", "cache_misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES, 1},
	{"tlb_misses", "tlb_misses", PERF_TYPE_HW_CACHE, LOAD_MISSES(DTLB), 1},
#ifdef __aarch64__
	/* architectural event DTLB_WALK; on x86 the number depends on the model */
	{"page_walks", "page_walks", PERF_TYPE_RAW, 0x34, 1},
#endif
};
#define COUNTERS (sizeof counters / sizeof *counters)

static int fd[COUNTERS], leader[GROUPS], user_only;
static uint64_t counted[COUNTERS];

static int open_counter(size_t i)
{
	int group = leader[counters[i].group];
	struct perf_event_attr attr = {
		.size = sizeof attr,
		.type = counters[i].type,
		.config = counters[i].config,
		.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
		.disabled = group < 0,
		.inherit = 1,
		.exclude_kernel = (unsigned)user_only & 1,
		.exclude_hv = 1,
	};
	return (int)syscall(SYS_perf_event_open, &attr, 0, -1, group, PERF_FLAG_FD_CLOEXEC);
}

void counters_close(void)
{
	for (size_t i = 0; i < COUNTERS; i++)
		if (fd[i] >= 0)
			close(fd[i]);
}

/* Opens the available counters. Returns whether there are any. */
int counters_open(void)
{
	int any = 0, refused = 0;
	for (int group = 0; group < GROUPS; group++)
		leader[group] = -1;
	for (size_t i = 0; i < COUNTERS; i++) {
		fd[i] = -1;
		if ((user_only ? counters[i].in_user_mode : counters[i].name) == NULL)
			continue;
		fd[i] = open_counter(i);
		if (fd[i] < 0) {
			refused |= errno == EACCES || errno == EPERM;
			continue;
		}
		any = 1;
		if (leader[counters[i].group] < 0)
			leader[counters[i].group] = fd[i];
	}
	if (!any && refused && !user_only) {
		user_only = 1;
		return counters_open();
	}
	return any;
}

static void switch_all(unsigned long request)
{
	for (int group = 0; group < GROUPS; group++)
		if (leader[group] >= 0)
			ioctl(leader[group], request, PERF_IOC_FLAG_GROUP);
}

void counters_begin(void)
{
	switch_all(PERF_EVENT_IOC_ENABLE);
}

void counters_end(void)
{
	switch_all(PERF_EVENT_IOC_DISABLE);
}

/* Reads and scales the counts of a group. Returns 0 if it never ran. */
static int read_group(int group)
{
	struct {
		uint64_t counters, enabled, running, value[COUNTERS];
	} found;
	size_t next = 0;
	if (leader[group] < 0 || read(leader[group], &found, sizeof found) < 0 || found.running == 0)
		return 0;
	double scale = (double)found.enabled / (double)found.running;
	for (size_t i = 0; i < COUNTERS && next < found.counters; i++)
		if (fd[i] >= 0 && counters[i].group == group)
			counted[i] = (uint64_t)((double)found.value[next++] * scale + 0.5);
	return 1;
}

void line_counters(uint64_t n)
{
	int ran[GROUPS];
	for (int group = 0; group < GROUPS; group++)
		ran[group] = read_group(group);
	line("counters n=%" PRIu64, n);
	for (size_t i = 0; i < COUNTERS; i++)
		if (fd[i] >= 0 && ran[counters[i].group])
			line(" %s=%" PRIu64, user_only ? counters[i].in_user_mode : counters[i].name, counted[i]);
	end_line();
}
