/* The region of vm/paging as a mapped file: written beforehand, and dropped from memory before each operation.
 *
 * A control group limits the process's memory. Without one the program emulates a limit: after touching the permitted number of distinct
 * pages it drops all of them. Since that is another replacement policy, it is noted as a stand-in.
 */
#ifndef GRITSTONE_VM_REGION_H
#define GRITSTONE_VM_REGION_H

#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "../fs/second-cache.h"
#include "touches.h"

#define NAME "region"

static int file = -1, confined;
static size_t page_size;
static uint64_t memory_pages;
static char *region;
static unsigned char *touched; /* stand-in: pages touched since the last drop */
static uint64_t touched_count;

static uint64_t page_content(uint64_t page)
{
	return (page + 1) * 0x9e3779b97f4a7c15u;
}

/* Writes the file and syncs it, since dirty pages cannot be dropped. */
static void write_region(struct context *c)
{
	uint64_t *page = calloc(1, page_size);
	file = open(NAME, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (page == NULL || file < 0) {
		failed(c, page == NULL ? "calloc" : "open");
		free(page);
		return;
	}
	for (uint64_t i = 0; i < pages; i++) {
		page[0] = page_content(i);
		if (write(file, page, page_size) != (ssize_t)page_size) {
			failed(c, "write");
			break;
		}
		/* in small steps, since dirty pages count towards the group's limit */
		if (i % 256 == 255 && fdatasync(file) != 0)
			failed(c, "fdatasync");
	}
	free(page);
	if (fsync(file) != 0)
		failed(c, "fsync");
}

static void drop_region(struct context *c)
{
	if (madvise(region, pages * page_size, MADV_DONTNEED) != 0)
		failed(c, "madvise");
	/* 0: the whole file; the error is the return value */
	if (posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED) != 0)
		failed_because(c, "posix_fadvise", "the pages of a file cannot be dropped here");
	if (!confined)
		memset(touched, 0, pages);
	touched_count = 0;
}

/* Stand-in for a limit. */
static inline void emulate_limit(struct context *c, uint32_t page)
{
	if (touched[page])
		return;
	if (touched_count == memory_pages)
		drop_region(c);
	touched[page] = 1;
	touched_count++;
}

/* Skips on file systems in memory. */
static void check_droppable(struct context *c)
{
	unsigned char *in_memory = malloc(pages);
	uint64_t resident = 0;
	if (has_second_cache(file))
		skip(c, SECOND_CACHE);
	drop_region(c);
	if (in_memory == NULL || mincore(region, pages * page_size, in_memory) != 0)
		failed(c, "mincore");
	for (uint64_t i = 0; in_memory != NULL && i < pages; i++)
		resident += in_memory[i] & 1;
	free(in_memory);
	if (resident > pages / 100)
		skip(c,
		     "the file system here keeps %u of %u pages in memory after posix_fadvise; choose a directory on a disk with --dir",
		     (unsigned)resident, (unsigned)pages);
}

/* Pages under readahead cannot be reclaimed: with too many of them the OOM killer strikes. */
static void check_readahead(struct context *c, int advice)
{
	static const char *const paths[] = {"/sys/class/bdi/%u:%u/read_ahead_kb", "/sys/dev/block/%u:%u/../queue/read_ahead_kb"};
	struct stat status;
	uint64_t kilobytes = 0;
	if (fstat(file, &status) != 0)
		failed(c, "fstat");
	for (int i = 0; i < 2 && kilobytes == 0; i++) {
		char path[80];
		unsigned long found;
		snprintf(path, sizeof path, paths[i], major(status.st_dev), minor(status.st_dev));
		FILE *setting = fopen(path, "re");
		if (setting != NULL && fscanf(setting, "%lu", &found) == 1)
			kilobytes = found;
		if (setting != NULL)
			fclose(setting);
	}
	note(c, "read_ahead_kb", "%u", (unsigned)kilobytes);
	if (confined && advice != MADV_RANDOM && 3 * kilobytes * 1024 > memory_pages * page_size)
		skip(c,
		     "the device's readahead of %u KB is too large for %u pages of memory; choose a directory on another one with --dir",
		     (unsigned)kilobytes, (unsigned)memory_pages);
}

static void map_file(struct context *c, int advice)
{
	write_region(c);
	region = mmap(NULL, pages * page_size, PROT_READ, MAP_SHARED, file, 0);
	touched = calloc(1, pages);
	if (touched == NULL || region == MAP_FAILED) {
		failed(c, touched == NULL ? "calloc" : "mmap");
		return;
	}
	if (madvise(region, pages * page_size, advice) != 0)
		failed(c, "madvise");
	check_readahead(c, advice);
	if (!confined)
		note(c, "stand_in",
		     "No control group limited the process to %u pages of memory (%s); instead all pages of the region were dropped after each %u distinct pages.",
		     (unsigned)memory_pages, parameter(c, "unconfined", "none was made"), (unsigned)memory_pages);
	check_droppable(c);
}

#endif
