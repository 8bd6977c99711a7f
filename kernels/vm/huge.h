/* Transparent huge pages, by madvise(2). */
#ifndef GRITSTONE_VM_HUGE_H
#define GRITSTONE_VM_HUGE_H

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "../runtime/kernel.h"

#define HUGE_PAGES "/sys/kernel/mm/transparent_hugepage/"
#define HUGE_PAGES_ARE_OFF "huge pages are off here; as root: echo madvise > " HUGE_PAGES "enabled"

/* The number after a keyword in a system file; 0 if absent. */
static inline uint64_t read_number(const char *path, const char *word)
{
	char line[256];
	unsigned long number = 0;
	FILE *file = fopen(path, "re");
	while (file != NULL && fgets(line, sizeof line, file) != NULL)
		if (strncmp(line, word, strlen(word)) == 0 && sscanf(line + strlen(word), "%lu", &number) == 1)
			break;
	if (file != NULL)
		fclose(file);
	return number;
}

/* Size of a huge page; 0 without support. Skips if they are off. */
static inline uint64_t huge_page_size(struct context *c)
{
	char text[64] = "";
	uint64_t bytes = read_number(HUGE_PAGES "hpage_pmd_size", "");
	FILE *file = fopen(HUGE_PAGES "enabled", "re");
	if (file == NULL || fgets(text, sizeof text, file) == NULL || bytes == 0)
		skip(c, "this system has no transparent huge pages");
	else if (strstr(text, "[never]") != NULL)
		skip(c, HUGE_PAGES_ARE_OFF);
	if (file != NULL)
		fclose(file);
	return bytes;
}

/* Memory aligned to huge pages, with MADV_HUGEPAGE. */
static inline char *huge_memory(struct context *c, uint64_t bytes, uint64_t page)
{
	char *memory = mmap(NULL, bytes + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED) {
		failed(c, "mmap");
		return NULL;
	}
	memory += (page - (uintptr_t)memory % page) % page;
	if (madvise(memory, bytes, MADV_HUGEPAGE) != 0)
		skip(c, HUGE_PAGES_ARE_OFF);
	return memory;
}

/* Bytes of this process in huge pages. */
static inline uint64_t huge_bytes(void)
{
	return read_number("/proc/self/smaps_rollup", "AnonHugePages:") * 1024;
}

#endif
