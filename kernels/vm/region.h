/* The region of vm/paging where it is a mapped file, which is read: written out beforehand, and thrown out of memory before each operation.
 *
 * A control group holds the process to its allowance. Where there is none, the program does so itself: when it has touched as
 * many different pages as it is allowed, all of them are thrown out. That is another policy, and the result says so.
 */
#ifndef GRITSTONE_VM_REGION_H
#define GRITSTONE_VM_REGION_H

#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "touches.h"

#define NAME "region"

static int file = -1, confined;
static size_t page_size;
static uint64_t allowed;
static char *region;
static unsigned char *seen; /* stand-in: pages that were touched since all were thrown out */
static uint64_t seen_count;

/* What stands on a page. */
static uint64_t number(uint64_t page)
{
	return (page + 1) * 0x9e3779b97f4a7c15u;
}

/* The region on the disk, and nothing of it dirty: a dirty page could not be thrown out. */
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
		page[0] = number(i);
		if (write(file, page, page_size) != (ssize_t)page_size) {
			failed(c, "write");
			break;
		}
		/* little at a time, since what is not on the disk yet counts as ours */
		if (i % 256 == 255 && fdatasync(file) != 0)
			failed(c, "fdatasync");
	}
	free(page);
	if (fsync(file) != 0)
		failed(c, "fsync");
}

static void throw_out(struct context *c)
{
	if (madvise(region, pages * page_size, MADV_DONTNEED) != 0)
		failed(c, "madvise");
	/* 0: all of the file; an error is returned, not left in errno */
	if (posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED) != 0)
		failed_because(c, "posix_fadvise", "pages of a file cannot be thrown out here");
	if (!confined)
		memset(seen, 0, pages);
	seen_count = 0;
}

/* Counts a page that is not among those touched, as the stand-in for a limit; throws all out when there are too many. */
static inline void allow(struct context *c, uint32_t page)
{
	if (seen[page])
		return;
	if (seen_count == allowed)
		throw_out(c);
	seen[page] = 1;
	seen_count++;
}

/* Some file systems are memory, and keep their pages. */
static void must_page(struct context *c)
{
	unsigned char *in_memory = malloc(pages);
	uint64_t kept = 0;
	throw_out(c);
	if (in_memory == NULL || mincore(region, pages * page_size, in_memory) != 0)
		failed(c, "mincore");
	for (uint64_t i = 0; in_memory != NULL && i < pages; i++)
		kept += in_memory[i] & 1;
	free(in_memory);
	if (kept > pages / 100)
		skip(c,
		     "the file system here keeps %u of %u pages in memory when it is told to let go of them; choose a directory on a disk with --dir",
		     (unsigned)kept, (unsigned)pages);
}

/* What is read ahead cannot be thrown out before it is there: too much of it, and the system has nothing left but to kill. */
static void read_ahead_must_fit(struct context *c, int advice)
{
	static const char *const places[] = {"/sys/class/bdi/%u:%u/read_ahead_kb", "/sys/dev/block/%u:%u/../queue/read_ahead_kb"};
	struct stat status;
	uint64_t kilobytes = 0;
	if (fstat(file, &status) != 0)
		failed(c, "fstat");
	for (int i = 0; i < 2 && kilobytes == 0; i++) {
		char path[80];
		unsigned long found;
		snprintf(path, sizeof path, places[i], major(status.st_dev), minor(status.st_dev));
		FILE *setting = fopen(path, "re");
		if (setting != NULL && fscanf(setting, "%lu", &found) == 1)
			kilobytes = found;
		if (setting != NULL)
			fclose(setting);
	}
	note(c, "read_ahead_kb", "%u", (unsigned)kilobytes);
	if (confined && advice != MADV_RANDOM && 3 * kilobytes * 1024 > allowed * page_size)
		skip(c,
		     "the device reads %u KB ahead, which is too much for %u pages of memory; choose a directory on another one with --dir",
		     (unsigned)kilobytes, (unsigned)allowed);
}

static void map_file(struct context *c, int advice)
{
	write_region(c);
	region = mmap(NULL, pages * page_size, PROT_READ, MAP_SHARED, file, 0);
	seen = calloc(1, pages);
	if (seen == NULL || region == MAP_FAILED) {
		failed(c, seen == NULL ? "calloc" : "mmap");
		return;
	}
	if (madvise(region, pages * page_size, advice) != 0)
		failed(c, "madvise");
	read_ahead_must_fit(c, advice);
	if (!confined)
		note(c, "stand_in",
		     "No control group limited the process to %u pages of memory (%s); instead all pages of the region were thrown out whenever %u different ones had been touched.",
		     (unsigned)allowed, parameter(c, "unconfined", "none was made"), (unsigned)allowed);
	must_page(c);
}

#endif
