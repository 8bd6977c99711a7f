/* Common part of the file benchmarks: dropping a file from the page cache and verifying it, and errors of full file systems. cold_by= is
 * the method: `fadvise`, for this file only; `drop_caches`, for the whole machine, which takes root; `direct`, which bypasses the cache
 * (O_DIRECT). */
#ifndef GRITSTONE_FS_FILES_H
#define GRITSTONE_FS_FILES_H

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../runtime/draw.h"
#include "../runtime/kernel.h"
#include "second-cache.h"

/* Alignment of addresses, lengths and offsets for O_DIRECT, sufficient for every device. */
#define ALIGNMENT 4096

enum cold { BY_FADVISE, BY_DROP_CACHES, BY_DIRECT };

/* Reports a failed call; advises on a full file system. Returns -1. */
static int file_failed(struct context *c, const char *call, int error)
{
	char directory[256];
	int full = error == ENOSPC || error == EDQUOT;
	if (getcwd(directory, sizeof directory) == NULL)
		strcpy(directory, "the directory of the launch");
	errno = error;
	if (full)
		failed_because(c, call, "%s in %s: free space there, or choose another directory with --dir", strerror(error), directory);
	else
		failed(c, call);
	return -1;
}

/* memory_bytes= is less than the data, which the cache would hold otherwise. Returns 0 after skip() for lack of a control group. */
static inline int limit_is_below(struct context *c, uint64_t data)
{
	const uint64_t limit = parameter_u64(c, "memory_bytes", 0);
	if (limit >= data)
		wrong_arguments(c, "memory_bytes=%llu must be less than the data of %llu bytes, which the page cache would hold otherwise",
				(unsigned long long)limit, (unsigned long long)data);
	if (limit == 0 || strcmp(parameter(c, "confined", "no"), "yes") == 0)
		return 1;
	skip(c, "No control group limits the program to less memory than its data (%s): run as root.",
	     parameter(c, "unconfined", "none was made"));
	return 0;
}

/* Returns (size_t)-1 on failure. */
static size_t resident_pages(struct context *c, int file)
{
	struct stat status;
	size_t page = (size_t)sysconf(_SC_PAGESIZE), count = 0;
	if (fstat(file, &status) != 0) {
		failed(c, "fstat");
		return (size_t)-1;
	}
	size_t bytes = (size_t)status.st_size, pages = (bytes + page - 1) / page;
	unsigned char *resident = malloc(pages + 1);
	void *memory = mmap(NULL, bytes, PROT_READ, MAP_SHARED, file, 0);
	if (resident == NULL || memory == MAP_FAILED || mincore(memory, bytes, resident) != 0) {
		failed(c, "mincore");
		count = (size_t)-1;
	}
	for (size_t i = 0; count != (size_t)-1 && i < pages; i++)
		count += resident[i] & 1;
	if (memory != MAP_FAILED)
		munmap(memory, bytes);
	free(resident);
	return count;
}

/* Drops all droppable pages of the file. Returns the number that stay, (size_t)-1 on failure. */
static size_t drop_pages(struct context *c, int file, enum cold by)
{
	int caches = by == BY_DROP_CACHES ? open("/proc/sys/vm/drop_caches", O_WRONLY | O_CLOEXEC) : -1;
	if (by == BY_DROP_CACHES && (caches < 0 || write(caches, "1\n", 2) != 2)) {
		failed_because(c, "drop_caches", "/proc/sys/vm/drop_caches: %s; it takes root: leave --param cold_by= out",
			       strerror(errno));
		return (size_t)-1;
	}
	if (caches >= 0)
		close(caches);
	posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED); /* verified next */
	return resident_pages(c, file);
}

/* A page that is dirty or under writeback cannot be dropped. */
static inline void check_clean(struct context *c, int file)
{
	size_t left = drop_pages(c, file, BY_FADVISE);
	if (left != 0 && left != (size_t)-1)
		failed_because(c, "fsync", "%u pages of the file are not on the device", (unsigned)left);
}

/* Writes back and drops all pages, with retries, since the kernel may hold a page briefly. Returns the number that stay. */
static size_t pages_after_drop(struct context *c, int file, enum cold by)
{
	size_t left = 1;
	if (fsync(file) != 0) {
		file_failed(c, "fsync", errno);
		return 0;
	}
	for (int attempt = 0; attempt < 5 && left != 0; attempt++)
		if ((left = drop_pages(c, file, by)) == (size_t)-1)
			return 0;
	return left;
}

static inline void evict_file(struct context *c, int file, enum cold by)
{
	size_t left = pages_after_drop(c, file, by);
	if (left != 0)
		failed_because(c, "posix_fadvise", "%u pages of the file stay in the page cache", (unsigned)left);
}

/* From setup, with a nonempty file: skips on file systems in memory. */
static inline void require_device(struct context *c, int file)
{
	if (pages_after_drop(c, file, BY_FADVISE) != 0)
		skip(c, "The file system here keeps its files in memory, or cannot drop them from it: choose a directory on a device with --dir.");
}

/* The same for reads from the device. */
static inline void require_cold(struct context *c, int file)
{
	if (has_second_cache(file))
		skip(c, SECOND_CACHE);
	else
		require_device(c, file);
}

static inline enum cold parse_cold_by(struct context *c)
{
	static const char *const names[] = {"fadvise", "drop_caches", "direct"};
	static const char *const how[] = {"posix_fadvise dropped its pages", "the cache of the whole machine was dropped",
					  "it was read past the cache, with O_DIRECT"};
	const char *name = parameter(c, "cold_by", names[0]);
	for (int i = 0; i < 3; i++)
		if (strcmp(name, names[i]) == 0) {
			note(c, "uncached", "%s", name);
			note(c, "remark", i == BY_DIRECT ? "The file was cold: %s." :
				"The file was cold: %s before each timed region, and mincore found none of them left.", how[i]);
			return (enum cold)i;
		}
	wrong_arguments(c, "cold_by=%s is not fadvise, drop_caches or direct", name);
	return BY_FADVISE;
}

/* Stamp at the start of the i-th block of a file in its g-th generation. */
static inline uint64_t stamp(uint64_t i, uint64_t g)
{
	uint64_t state = i << 32 ^ g;
	return draw(&state);
}

#endif
