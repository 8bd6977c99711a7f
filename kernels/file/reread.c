/* file/read/..., file/mmap/...: bandwidth of reading and mapping a cached file (lmbench-1996, file and mmap re-read bandwidth).
 *
 * One operation of how=read: open the file of bytes= bytes, read it in pieces of 64 KB, sum its words, close. One of how=mmap: open, map
 * the whole file, sum its words in place, unmap, close. The former copies; the latter has page faults where fault-around has not mapped
 * pages. Both touch every byte.
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
static int use_mmap;

static uint64_t sum_words(const uint64_t *words, size_t bytes)
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
	use_mmap = strcmp(how, "mmap") == 0;
	if ((!use_mmap && strcmp(how, "read") != 0) || bytes == 0 || bytes % 4096 != 0 || bytes > (size_t)1 << 30)
		wrong_arguments(c, "how=%s is neither read nor mmap, or bytes=%zu are not whole pages up to 1 GB", how, bytes);
	int file = open("file", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	for (size_t offset = 0; offset < bytes; offset += PIECE) {
		size_t length = bytes - offset < PIECE ? bytes - offset : PIECE;
		for (size_t i = 0; i < length / sizeof *piece; i++)
			piece[i] = offset / sizeof *piece + i + 1;
		if (file < 0 || write(file, piece, length) != (ssize_t)length) {
			failed(c, "write");
			return;
		}
	}
	if (close(file) != 0)
		failed(c, "close");
}

static int sum_by_read(struct context *c, int file, uint64_t *sum)
{
	for (size_t offset = 0; offset < bytes; offset += PIECE) {
		size_t length = bytes - offset < PIECE ? bytes - offset : PIECE;
		if (read(file, piece, length) != (ssize_t)length) {
			failed(c, "read");
			return 0;
		}
		*sum += sum_words(piece, length);
	}
	return 1;
}

static int sum_by_mmap(struct context *c, int file, uint64_t *sum)
{
	void *words = mmap(NULL, bytes, PROT_READ, MAP_SHARED, file, 0);
	if (words == MAP_FAILED) {
		failed(c, "mmap");
		return 0;
	}
	*sum += sum_words(words, bytes);
	if (munmap(words, bytes) == 0)
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
		int done = use_mmap ? sum_by_mmap(c, file, check) : sum_by_read(c, file, check);
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
