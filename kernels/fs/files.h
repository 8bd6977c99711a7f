/* What programs on files share: getting a file out of the page cache and showing that it is out, and the errors of a file
 * system that is full. How a cold file is reached is said by cold_by=: `fadvise`, which concerns this file alone;
 * `drop_caches`, which empties the cache of the whole machine and takes root; `direct`, which goes past it (O_DIRECT). */
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

/* Suits every device there is: addresses, lengths and places of transfers past the cache are multiples of its blocks. */
#define ALIGNMENT 4096

enum cold { BY_FADVISE, BY_DROP_CACHES, BY_DIRECT };

/* A failing call on a file, and where; a full file system has its own advice. Returns -1. */
static int went_wrong(struct context *c, const char *call, int error)
{
	char here[256];
	int full = error == ENOSPC || error == EDQUOT;
	if (getcwd(here, sizeof here) == NULL)
		strcpy(here, "the directory of the launch");
	errno = error;
	if (full)
		failed_because(c, call, "%s in %s: make room there, or choose another directory with --dir", strerror(error), here);
	else
		failed(c, call);
	return -1;
}

/* How many pages of an open file are in memory; (size_t)-1 where that cannot be known. */
static size_t pages_in_memory(struct context *c, int file)
{
	struct stat status;
	size_t page = (size_t)sysconf(_SC_PAGESIZE), count = 0;
	if (fstat(file, &status) != 0) {
		failed(c, "fstat");
		return (size_t)-1;
	}
	size_t bytes = (size_t)status.st_size, pages = (bytes + page - 1) / page;
	unsigned char *in = malloc(pages + 1);
	void *there = mmap(NULL, bytes, PROT_READ, MAP_SHARED, file, 0);
	if (in == NULL || there == MAP_FAILED || mincore(there, bytes, in) != 0) {
		failed(c, "mincore");
		count = (size_t)-1;
	}
	for (size_t i = 0; count != (size_t)-1 && i < pages; i++)
		count += in[i] & 1;
	if (there != MAP_FAILED)
		munmap(there, bytes);
	free(in);
	return count;
}

/* Lets go of all pages of the file that can be let go of; returns how many stay, (size_t)-1 after a failure. */
static size_t let_go(struct context *c, int file, enum cold by)
{
	int caches = by == BY_DROP_CACHES ? open("/proc/sys/vm/drop_caches", O_WRONLY | O_CLOEXEC) : -1;
	if (by == BY_DROP_CACHES && (caches < 0 || write(caches, "1\n", 2) != 2)) {
		failed_because(c, "drop_caches", "/proc/sys/vm/drop_caches: %s; it takes root: leave --param cold_by= out",
			       strerror(errno));
		return (size_t)-1;
	}
	if (caches >= 0)
		close(caches);
	posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED); /* whether it worked is seen next */
	return pages_in_memory(c, file);
}

/* Nothing of the file is dirty, by what the kernel lets go of at once: a page that is dirty, or on its way, stays. */
static inline void must_be_clean(struct context *c, int file)
{
	size_t left = let_go(c, file, BY_FADVISE);
	if (left != 0 && left != (size_t)-1)
		failed_because(c, "fsync", "%u pages of the file are not on the device", (unsigned)left);
}

/* Writes what is dirty, and lets go of everything; now and then somebody else holds a page for a moment. How many stay. */
static size_t pages_that_stay(struct context *c, int file, enum cold by)
{
	size_t left = 1;
	if (fsync(file) != 0) {
		went_wrong(c, "fsync", errno);
		return 0;
	}
	for (int attempt = 0; attempt < 5 && left != 0; attempt++)
		if ((left = let_go(c, file, by)) == (size_t)-1)
			return 0;
	return left;
}

/* The pages of a file are out of memory from here on, or the region fails. */
static inline void make_cold(struct context *c, int file, enum cold by)
{
	size_t left = pages_that_stay(c, file, by);
	if (left != 0)
		failed_because(c, "posix_fadvise", "%u pages of the file stay in memory", (unsigned)left);
}

/* From setup, of a file that is not empty: where files are memory, nothing can be cold and nothing comes from a device. */
static inline void must_be_on_a_device(struct context *c, int file)
{
	if (pages_that_stay(c, file, BY_FADVISE) != 0)
		skip(c, "The file system here keeps its files in memory, or cannot let go of them: name a directory on a device with --dir.");
}

static inline enum cold cold_by(struct context *c)
{
	static const char *const names[] = {"fadvise", "drop_caches", "direct"};
	static const char *const how[] = {"posix_fadvise let go of its pages", "the cache of the whole machine was dropped",
					  "it was read past the cache, with O_DIRECT"};
	const char *said = parameter(c, "cold_by", names[0]);
	for (int i = 0; i < 3; i++)
		if (strcmp(said, names[i]) == 0) {
			note(c, "uncached", "%s", said);
			note(c, "remark", i == BY_DIRECT ? "The file was cold: %s." :
				"The file was cold: %s before each timed region, and mincore found none of them left.", how[i]);
			return (enum cold)i;
		}
	wrong_arguments(c, "cold_by=%s is none of fadvise, drop_caches and direct", said);
	return BY_FADVISE;
}

/* What stands in front of the i-th piece of a file in its g-th writing. */
static inline uint64_t stamp(uint64_t i, uint64_t g)
{
	uint64_t state = i << 32 ^ g;
	return draw(&state);
}

#endif
