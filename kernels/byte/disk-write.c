/* byte/disk-write: creating and writing a file (byte-1984, listing 5a and table 1).
 *
 * One operation is one file: created, closed, opened for writing, written with 256 blocks of 512 bytes, closed. The reference workload is
 * one file. Every file is new; all are read back and removed untimed. fsync=no is the original without sync: the speed of the page cache on
 * most file systems. fsync=yes calls fsync before each close.
 */
#define _GNU_SOURCE
#include <stdio.h>

#include "../fs/files.h"

#define BLOCK 512
#define BLOCKS 256
#define MAX_FILES 256 /* 32 MB at a time */

static char block[BLOCK];
static int use_fsync;

static const char *name(uint64_t i)
{
	static char text[32];
	snprintf(text, sizeof text, "large.%u", (unsigned)i);
	return text;
}

static void setup(struct context *c)
{
	const char *value = parameter(c, "fsync", "no");
	for (int i = 0; i < BLOCK; i++)
		block[i] = (char)('a' + i % 26);
	use_fsync = strcmp(value, "yes") == 0;
	if (!use_fsync && strcmp(value, "no") != 0)
		wrong_arguments(c, "fsync=%s is neither yes nor no", value);
	if (use_fsync)
		note(c, "uncached", "fsync after writing");
}

static int write_file(struct context *c, uint64_t i)
{
	int file = creat(name(i), 0640);
	if (file < 0) {
		failed(c, "creat");
		return -1;
	}
	close(file);
	file = open(name(i), O_WRONLY);
	if (file < 0) {
		failed(c, "open");
		return -1;
	}
	for (int b = 0; b < BLOCKS; b++)
		if (write(file, block, BLOCK) != BLOCK) {
			failed(c, "write");
			close(file);
			return -1;
		}
	if (use_fsync && fsync(file) != 0) {
		failed(c, "fsync");
		close(file);
		return -1;
	}
	if (close(file) != 0) {
		failed(c, "close");
		return -1;
	}
	return 0;
}

static void run(struct context *c, uint64_t n, uint64_t *check)
{
	(void)check;
	for (uint64_t i = 0; i < n; i++)
		if (write_file(c, i) != 0)
			return;
}

/* Counts correct blocks. */
static void finish(struct context *c, uint64_t n, uint64_t *check)
{
	char found[BLOCK];
	for (uint64_t i = 0; i < n; i++) {
		int file = open(name(i), O_RDONLY);
		if (file < 0) {
			failed(c, "open");
			return;
		}
		while (read(file, found, BLOCK) == BLOCK)
			*check += memcmp(found, block, BLOCK) == 0;
		close(file);
		if (unlink(name(i)) != 0)
			failed(c, "unlink");
	}
}

static uint64_t expect(struct context *c, uint64_t n)
{
	(void)c;
	return n * BLOCKS;
}

const struct kernel kernel = {
	.name = "byte/disk-write",
	.setup = setup,
	.run = run,
	.finish = finish,
	.expect = expect,
	.max_n = MAX_FILES,
	.files = 1,
};
