/* The counters of the runtime before a made-up kernel, since hardware with counters may not be had: `all` permits everything, `user` user
 * mode alone, `shared` counts for a quarter of the time, `few` has no events of the caches, `none` nothing. `software` is the real kernel,
 * asked for page faults, context switches and CPU time where counters.c asks for instructions, branch misses and cycles. */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/perf_event.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define FIRST 1000 /* number of the first made-up descriptor */

static const char *kind;
static int opened, group_of[16];

static int is(const char *name)
{
	return strcmp(kind, name) == 0;
}

static long ask(long number, struct perf_event_attr *attr, int pid, int cpu, int group, unsigned long flags)
{
	if (is("software")) {
		static const uint64_t instead[] = {
			[PERF_COUNT_HW_INSTRUCTIONS] = PERF_COUNT_SW_PAGE_FAULTS,
			[PERF_COUNT_HW_BRANCH_MISSES] = PERF_COUNT_SW_CONTEXT_SWITCHES,
			[PERF_COUNT_HW_CPU_CYCLES] = PERF_COUNT_SW_TASK_CLOCK,
			[PERF_COUNT_HW_CACHE_MISSES] = PERF_COUNT_SW_CPU_CLOCK,
		};
		if (attr->type != PERF_TYPE_HARDWARE)
			return errno = ENOENT, -1;
		attr->type = PERF_TYPE_SOFTWARE;
		attr->config = instead[attr->config];
		return syscall(number, attr, pid, cpu, group, flags);
	}
	if (is("none") || (is("few") && (attr->type != PERF_TYPE_HARDWARE || attr->config == PERF_COUNT_HW_CACHE_MISSES)))
		return errno = ENOENT, -1;
	if (is("user") && !attr->exclude_kernel)
		return errno = EACCES, -1;
	group_of[opened] = group < 0 ? FIRST + opened : group;
	return FIRST + opened++;
}

static ssize_t tell(int fd, void *to, size_t room)
{
	uint64_t *word = to;
	if (is("software"))
		return read(fd, to, room);
	word[0] = 0;
	word[1] = 8000;
	word[2] = is("shared") ? 2000 : 8000;
	for (int i = 0; i < opened; i++)
		if (group_of[i] == fd)
			word[3 + word[0]++] = (uint64_t)(i + 1) * 100;
	return (ssize_t)(3 + word[0]) * 8;
}

static int turn(int fd, unsigned long how, int whom)
{
	return is("software") ? ioctl(fd, how, whom) : 0;
}

#define syscall ask
#define read tell
#define ioctl turn
#include "../../../../kernels/runtime/counters.c"

void line(const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	vprintf(format, arguments);
	va_end(arguments);
}

void end_line(void)
{
	printf("\n");
}

int main(int argc, char **argv)
{
	kind = argc > 1 ? argv[1] : "none";
	if (!counters_open()) {
		printf("nothing\n");
		return 0;
	}
	char *memory = mmap(NULL, 400 << 12, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	madvise(memory, 400 << 12, MADV_NOHUGEPAGE);
	memset(memory, 1, 100 << 12); /* what is done before is not counted */
	counters_begin();
	memset(memory + (100 << 12), 1, 150 << 12);
	for (int i = 0; i < 5; i++)
		usleep(1000);
	counters_end();
	memset(memory + (250 << 12), 1, 150 << 12);
	line_counters(10);
	counters_close();
	return 0;
}
