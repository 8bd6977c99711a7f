/* Sizes of the last-level cache and of available memory. */
#ifndef GRITSTONE_MEMORY_CACHES_H
#define GRITSTONE_MEMORY_CACHES_H

#include <inttypes.h>
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

/* The first CPU that shares the last-level cache of a CPU: identifies the cache. */
static inline uint64_t first_of_last_cache(int cpu)
{
	uint64_t highest = 0, first = (uint64_t)cpu;
	for (int i = 0; i < 16; i++) {
		uint64_t level = cache_number(cpu, i, "level");
		if (level > highest) {
			highest = level;
			first = cache_number(cpu, i, "shared_cpu_list"); /* "0-7,16": the number before the first separator */
		}
	}
	return first;
}

/* A number in a file of a control group, after a word in a line if there is one; UINT64_MAX without it, also of "max". */
static inline uint64_t group_number(const char *group, const char *name, const char *word)
{
	char path[4608], line[256];
	uint64_t number = UINT64_MAX;
	snprintf(path, sizeof path, "%s/%s", group, name);
	FILE *file = fopen(path, "re");
	while (file != NULL && fgets(line, sizeof line, file) != NULL)
		if (strncmp(line, word, strlen(word)) == 0 && sscanf(line + strlen(word), "%" SCNu64, &number) == 1)
			break;
	if (file != NULL)
		fclose(file);
	return number;
}

/* Names of one version of control groups: in /proc/self/cgroup before the path, where it is mounted, and its files. */
struct group_version {
	const char *key, *mount, *limit, *used, *active, *inactive;
};

/* Bytes that the control groups of this process leave, file pages included, which can be dropped; UINT64_MAX without limits. */
static inline uint64_t group_memory_available(void)
{
	static const struct group_version versions[] = {
	    {"0::/", "/sys/fs/cgroup", "memory.max", "memory.current", "active_file ", "inactive_file "},
	    {":memory:/", "/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes", "total_active_file ",
	     "total_inactive_file "},
	};
	uint64_t least = UINT64_MAX;
	for (unsigned i = 0; i < 2; i++) {
		const struct group_version *v = &versions[i];
		char group[4352], line[4096];
		const size_t root = (size_t)snprintf(group, sizeof group, "%s", v->mount);
		FILE *file = fopen("/proc/self/cgroup", "re");
		while (file != NULL && fgets(line, sizeof line, file) != NULL) {
			const char *at = strstr(line, v->key);
			if (at == NULL || (i == 0 && at != line))
				continue;
			at += strlen(v->key) - 1;
			snprintf(group + root, sizeof group - root, "%.*s", (int)strcspn(at, "\n"), at);
		}
		if (file != NULL)
			fclose(file);
		/* from the group of the process to the root; a container may see only the upper ones */
		for (char *end = group; end != NULL; end = strrchr(group + root, '/')) {
			if (end != group)
				*end = '\0';
			uint64_t limit = group_number(group, v->limit, ""), used = group_number(group, v->used, "");
			uint64_t active = group_number(group, "memory.stat", v->active);
			uint64_t inactive = group_number(group, "memory.stat", v->inactive);
			if (limit == UINT64_MAX || used == UINT64_MAX || active == UINT64_MAX || inactive == UINT64_MAX)
				continue;
			uint64_t files = active + inactive, kept = used > files ? used - files : 0;
			uint64_t left = limit > kept ? limit - kept : 0;
			least = left < least ? left : least;
		}
	}
	return least;
}

/* Bytes available without swapping. Without MemAvailable (no /proc, Linux before 3.14): free memory without the page cache. */
static inline uint64_t memory_available(void)
{
	const uint64_t of_groups = group_memory_available();
	char line[128];
	unsigned long kilobytes = 0;
	struct sysinfo memory;
	FILE *file = fopen("/proc/meminfo", "re");
	while (file != NULL && fgets(line, sizeof line, file) != NULL)
		if (sscanf(line, "MemAvailable: %lu", &kilobytes) == 1)
			break;
	if (file != NULL)
		fclose(file);
	uint64_t of_machine = (uint64_t)kilobytes * 1024;
	if (kilobytes == 0 && sysinfo(&memory) == 0)
		of_machine = (uint64_t)memory.freeram * memory.mem_unit;
	return of_machine < of_groups ? of_machine : of_groups;
}

#endif
