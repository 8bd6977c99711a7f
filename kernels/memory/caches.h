/* Sizes of the last-level cache and of available memory. */
#ifndef GRITSTONE_MEMORY_CACHES_H
#define GRITSTONE_MEMORY_CACHES_H

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/sysinfo.h>
#include <unistd.h>

/* A number from /sys about a CPU's cache; 0 if absent. Sizes are in KiB ("32768K"). */
static inline uint64_t cache_number(int cpu, int index, const char *what)
{
	char path[96];
	unsigned long number = 0;
	snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/cache/index%d/%s", cpu, index, what);
	FILE *file = fopen(path, "re");
	if (file == NULL)
		return 0;
	if (fscanf(file, "%lu", &number) != 1)
		number = 0;
	fclose(file);
	return number;
}

/* Bytes of a CPU's last-level cache; 0 if unknown. */
static inline uint64_t last_cache(int cpu)
{
	uint64_t highest = 0, kilobytes = 0;
	for (int i = 0; i < 16; i++) {
		uint64_t level = cache_number(cpu, i, "level");
		if (level > highest) {
			highest = level;
			kilobytes = cache_number(cpu, i, "size");
		}
	}
	return kilobytes * 1024;
}

/* Whether a CPU is the first that shares its last-level cache, to count each cache once. */
static inline int first_of_last_cache(int cpu)
{
	uint64_t highest = 0, first = (uint64_t)cpu;
	for (int i = 0; i < 16; i++) {
		uint64_t level = cache_number(cpu, i, "level");
		if (level > highest) {
			highest = level;
			first = cache_number(cpu, i, "shared_cpu_list"); /* "0-7,16": the number before the first separator */
		}
	}
	return first == (uint64_t)cpu;
}

/* Bytes available without swapping. Without MemAvailable (no /proc, Linux before 3.14): free memory without the page cache. */
static inline uint64_t memory_available(void)
{
	char line[128];
	unsigned long kilobytes = 0;
	struct sysinfo memory;
	FILE *file = fopen("/proc/meminfo", "re");
	while (file != NULL && fgets(line, sizeof line, file) != NULL)
		if (sscanf(line, "MemAvailable: %lu", &kilobytes) == 1)
			break;
	if (file != NULL)
		fclose(file);
	if (kilobytes == 0 && sysinfo(&memory) == 0)
		return (uint64_t)memory.freeram * memory.mem_unit;
	return (uint64_t)kilobytes * 1024;
}

#endif
