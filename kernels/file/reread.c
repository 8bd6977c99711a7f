/* file/read/..., file/mmap/...: a file that the system has in memory, read and mapped (lmbench-1996, file and mmap re-read
 * bandwidth).
 *
 * One operation of how=read is: open the file of bytes= bytes, read it in pieces of 64 KB, add up its words, close it. One of how=mmap is:
 * open it, map all of it, add up its words where they are, unmap it, close it. The one copies, the other has a page fault
 * wherever the kernel has not mapped pages in advance, and both look at every byte.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../runtime/kernel.h"

#define PIECE 65536

static uint64_t piece[PIECE / sizeof(uint64_t)];
static size_t bytes;
static int maps;

static uint64_t sum_of(const uint64_t *words, size_t bytes)
{
	uint64_t sum = 0;
	for (size_t i = 0; i < bytes / sizeof *words; i++)
		sum += words[i];
	return sum;
}

/* Word i of the file is i + 1. */
static void setup(struct context *c)
{
	const char *how = parameter(c, "how", "");
	bytes = (size_t)parameter_u64(c, "bytes", 0);
	maps = strcmp(how, "mmap") == 0;
	if ((!maps && strcmp(how, "read") != 0) || bytes == 0 || bytes % 4096 != 0 || bytes > (size_t)1 << 30)
		wrong_arguments(c, "how=%s is neither read nor mmap, or bytes=%zu are not whole pages up to 1 GB", how, bytes);
	int file = open("file", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	for (size_t at = 0; at < bytes; at += PIECE) {
		size_t some = bytes - at < PIECE ? bytes - at : PIECE;
		for (size_t i = 0; i < some / sizeof *piece; i++)
			piece[i] = at / sizeof *piece + i + 1;
		if (file < 0 || write(file, piece, some) != (ssize_t)some) {
			failed(c, "write");
			return;
		}
	}
	if (close(file) != 0)
		failed(c, "close");
}

static int read_it(struct context *c, int file, uint64_t *sum)
{
	for (size_t at = 0; at < bytes; at += PIECE) {
		size_t some = bytes - at < PIECE ? bytes - at : PIECE;
		if (read(file, piece, some) != (ssize_t)some) {
			failed(c, "read");
			return 0;
		}
		*sum += sum_of(piece, some);
	}
	return 1;
}

static int map_it(struct context *c, int file, uint64_t *sum)
{
	void *there = mmap(NULL, bytes, PROT_READ, MAP_SHARED, file, 0);
	if (there == MAP_FAILED) {
		failed(c, "mmap");
		return 0;
	}
	*sum += sum_of(there, bytes);
	if (munmap(there, bytes) == 0)
		return 1;
	failed(c, "munmap");
	return 0;
}

static void run(struct context *c, uint64_t n, uint64_t *check)
{
	for (uint64_t i = 0; i < n; i++) {
		int file = open("file", O_RDONLY | O_CLOEXEC);
		if (file < 0) {
			failed(c, "open");
			return;
		}
		int done = maps ? map_it(c, file, check) : read_it(c, file, check);
		if (close(file) != 0)
			failed(c, "close");
		if (!done)
			return;
	}
}

static uint64_t expect(struct context *c, uint64_t n)
{
	(void)c;
	uint64_t words = bytes / sizeof *piece;
	return n * (words * (words + 1) / 2);
}

const struct kernel kernel = {.name = "file/reread", .setup = setup, .run = run, .expect = expect};
