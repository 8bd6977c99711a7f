/* aim/disk-write, aim/disk-read, aim/disk-copy: files in chunks of 10 KB (hp-1987, appendix A, tests 06 to 08; table 4.1,
 * disk throughput, and the text on it).
 *
 * One operation is one chunk of 10,240 bytes of a file that is written, read, or read and written to another, from front to
 * back, with nothing but the calls of the system. A sample is always 400 chunks, 4,096,000 bytes: the document's own figures
 * would not repeat, because as much was written as fitted into a given time, and on a system with a cache the amount decides.
 *
 * cached=yes leaves what is read in the page cache and what is written to it. cached=no drops from the cache what is to be
 * read (fsync and posix_fadvise, before the clock starts), and flushes what was written (fsync, before it stops).
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../runtime/kernel.h"

#define CHUNK 10240
#define CHUNKS 400

#define SOURCE "source"
#define TARGET "target"

static char chunk[CHUNK];
static int reads, writes, cached;

/* Every chunk has its number in front, so that one that is missing, twice or in the wrong place shows. */
static int write_chunks(struct context *c, const char *name, uint64_t n, int flush)
{
	int file = creat(name, 0640);
	if (file < 0) {
		failed(c, "creat");
		return -1;
	}
	for (uint64_t i = 0; i < n; i++) {
		memcpy(chunk, &i, sizeof i);
		if (write(file, chunk, CHUNK) != CHUNK) {
			failed(c, "write");
			break;
		}
	}
	if (flush && fsync(file) != 0)
		failed(c, "fsync");
	if (close(file) != 0)
		failed(c, "close");
	return 0;
}

/* The pages of a file that are in memory. */
static size_t resident(struct context *c, int file)
{
	unsigned char pages[CHUNK * CHUNKS / 4096 + 1];
	size_t page = (size_t)sysconf(_SC_PAGESIZE), count = 0, all = (CHUNK * CHUNKS + page - 1) / page;
	void *there = mmap(NULL, CHUNK * CHUNKS, PROT_READ, MAP_SHARED, file, 0);
	if (there == MAP_FAILED || mincore(there, CHUNK * CHUNKS, pages) != 0)
		failed(c, "mincore");
	else
		for (size_t i = 0; i < all; i++)
			count += pages[i] & 1;
	if (there != MAP_FAILED)
		munmap(there, CHUNK * CHUNKS);
	return count;
}

static size_t drop(struct context *c, const char *name)
{
	int file = open(name, O_RDONLY);
	if (file < 0 || fsync(file) != 0 || posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED) != 0) {
		failed(c, "posix_fadvise");
		return 0;
	}
	size_t left = resident(c, file);
	close(file);
	return left;
}

static void setup(struct context *c)
{
	const char *op = parameter(c, "op", ""), *kept = parameter(c, "cached", "yes");
	reads = strcmp(op, "read") == 0 || strcmp(op, "copy") == 0;
	writes = strcmp(op, "write") == 0 || strcmp(op, "copy") == 0;
	cached = strcmp(kept, "yes") == 0;
	if (!reads && !writes)
		failed_because(c, "arguments", "op=%s is not read, write or copy", op);
	if (!cached && strcmp(kept, "no") != 0)
		failed_because(c, "arguments", "cached=%s is neither yes nor no", kept);
	for (int i = 0; i < CHUNK; i++)
		chunk[i] = (char)('a' + i % 26);
	write_chunks(c, SOURCE, CHUNKS, 0);
	if (cached)
		return;
	note(c, "uncached", "posix_fadvise before reading, fsync after writing");
	if (drop(c, SOURCE) != 0)
		skip(c, "This file system keeps its files in memory, or cannot drop them from there: name a directory on a device with --dir.");
}

static void prepare(struct context *c, uint64_t n)
{
	(void)n;
	if (reads && !cached && drop(c, SOURCE) != 0)
		failed_because(c, "posix_fadvise", "the file is in memory still");
}

static void run(struct context *c, uint64_t n, uint64_t *check)
{
	int from = -1, to = -1;
	if (reads && (from = open(SOURCE, O_RDONLY)) < 0) {
		failed(c, "open");
		return;
	}
	if (writes && (to = creat(TARGET, 0640)) < 0) {
		failed(c, "creat");
		return;
	}
	for (uint64_t i = 0; i < n; i++) {
		uint64_t number = i;
		if (!reads)
			memcpy(chunk, &number, sizeof number);
		else if (read(from, chunk, CHUNK) != CHUNK) {
			failed(c, "read");
			break;
		}
		if (writes && write(to, chunk, CHUNK) != CHUNK) {
			failed(c, "write");
			break;
		}
		memcpy(&number, chunk, sizeof number);
		*check += number;
	}
	if (writes && !cached && fsync(to) != 0)
		failed(c, "fsync");
	if ((reads && close(from) != 0) || (writes && close(to) != 0))
		failed(c, "close");
}

/* Counts the chunks that are in the new file as they should be. */
static void finish(struct context *c, uint64_t n, uint64_t *check)
{
	char found[CHUNK];
	if (!writes)
		return;
	int file = open(TARGET, O_RDONLY);
	if (file < 0) {
		failed(c, "open");
		return;
	}
	for (uint64_t i = 0; i < n && read(file, found, CHUNK) == CHUNK; i++) {
		memcpy(chunk, &i, sizeof i);
		*check += memcmp(found, chunk, CHUNK) == 0;
	}
	close(file);
	if (unlink(TARGET) != 0)
		failed(c, "unlink");
}

/* The numbers that came by, and the chunks that were written. */
static uint64_t expect(struct context *c, uint64_t n)
{
	(void)c;
	return n * (n - 1) / 2 + (writes ? n : 0);
}

static void teardown(struct context *c)
{
	if (unlink(SOURCE) != 0)
		failed(c, "unlink");
}

const struct kernel kernel = {
	.name = "aim/disk",
	.setup = setup,
	.prepare = prepare,
	.run = run,
	.finish = finish,
	.expect = expect,
	.teardown = teardown,
	.max_n = CHUNKS,
};
