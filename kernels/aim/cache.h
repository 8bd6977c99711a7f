/* Cache sizes of this CPU, and working-set sizes between them. */
#ifndef GRITSTONE_AIM_CACHE_H
#define GRITSTONE_AIM_CACHE_H

#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "../runtime/kernel.h"

#define LEVELS 3

/* Bytes of the data caches of levels 1 to 3, 0 for a missing one, and the source of the information. */
struct caches {
	uint64_t bytes[LEVELS + 1];
	const char *source;
};

/* First word of a sysfs file of a cache; empty if absent. */
static inline void cache_word(int cpu, int index, const char *file, char word[32])
{
	char path[128];
	word[0] = '\0';
	snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/cache/index%d/%s", cpu, index, file);
	FILE *f = fopen(path, "r");
	if (f == NULL)
		return;
	if (fscanf(f, "%31s", word) != 1)
		word[0] = '\0';
	fclose(f);
}

/* From sysfs; else from the C library, which is wrong on some virtual machines; else typical sizes of 2010. */
static inline struct caches find_caches(void)
{
	struct caches found = {{0}, "sysfs"};
	int cpu = sched_getcpu();
	for (int index = 0; index < 8; index++) {
		char level[32], type[32], size[32];
		cache_word(cpu < 0 ? 0 : cpu, index, "level", level);
		cache_word(cpu < 0 ? 0 : cpu, index, "type", type);
		cache_word(cpu < 0 ? 0 : cpu, index, "size", size);
		int l = level[0] - '0';
		unsigned long long number = 0;
		char unit = ' ';
		if (l >= 1 && l <= LEVELS && strcmp(type, "Instruction") != 0 && sscanf(size, "%llu%c", &number, &unit) >= 1)
			found.bytes[l] = number << (unit == 'M' ? 20 : unit == 'K' ? 10 : 0);
	}
	if (found.bytes[1] != 0)
		return found;
	const int names[LEVELS + 1] = {0, _SC_LEVEL1_DCACHE_SIZE, _SC_LEVEL2_CACHE_SIZE, _SC_LEVEL3_CACHE_SIZE};
	found.source = "the C library";
	for (int l = 1; l <= LEVELS; l++) {
		long size = sysconf(names[l]);
		found.bytes[l] = size > 0 ? (uint64_t)size : 0;
	}
	if (found.bytes[1] == 0)
		found = (struct caches){{0, 32 << 10, 256 << 10, 8 << 20}, "nobody: assumed"};
	return found;
}

/* A working set that fits this level but not the one below: a power of two near the geometric mean of both; beyond the last level twice the
 * sum of all caches, for memory. 0 if there is no such cache. */
static inline uint64_t between_caches(const struct caches *caches, int level)
{
	uint64_t all = caches->bytes[1] + caches->bytes[2] + caches->bytes[3], root = 1;
	if (level > LEVELS)
		return 2 * all > 64 << 20 ? 2 * all : 64 << 20;
	if (caches->bytes[level] <= caches->bytes[level - 1])
		return 0;
	while (2 * root * root < caches->bytes[level - 1] * caches->bytes[level])
		root *= 2;
	return root;
}

#endif
