/* byte/disk-read: random reads of a file (byte-1984, listing 5b and table 1).
 *
 * One operation is one file of 256 x 512 bytes, as byte/disk-write creates them: opened, read 256 times (a seek to a random byte offset,
 * then a read of 512 bytes; short near the end), closed and removed. The reference workload is one file. The offsets are the same on every
 * machine: a linear congruential generator with a fixed seed, evaluated untimed. The files are created, untimed, before each region.
 * cached=yes leaves them in the page cache; cached=no writes them back and drops them.
 */
#define _GNU_SOURCE
#include <stdio.h>

#include "../fs/files.h"

#define BLOCK 512
#define BLOCKS 256
#define SIZE (BLOCK * BLOCKS)
#define MAX_FILES 256

static off_t offset[BLOCKS];
static uint64_t bytes_a_file;
static int cached;

static const char *name(uint64_t i)
{
	static char text[32];
	snprintf(text, sizeof text, "large.%u", (unsigned)i);
	return text;
}

static void setup(struct context *c)
{
	uint32_t state = 1984; /* Numerical Recipes' quick generator; the high bits are the better ones */
	for (int i = 0; i < BLOCKS; i++) {
		state = state * 1664525u + 1013904223u;
		offset[i] = (off_t)(state >> 15); /* 0 to 131,071: any byte of the file */
		bytes_a_file += offset[i] + BLOCK <= SIZE ? BLOCK : (uint64_t)(SIZE - offset[i]);
	}
	note(c, "bytes_per_op", "%u", (unsigned)bytes_a_file);
	const char *cached_parameter = parameter(c, "cached", "yes");
	cached = strcmp(cached_parameter, "yes") == 0;
	if (!cached && strcmp(cached_parameter, "no") != 0)
		wrong_arguments(c, "cached=%s is neither yes nor no", cached_parameter);
	if (!cached)
		note(c, "uncached", "posix_fadvise before reading");
}

static void make_file(struct context *c, uint64_t i)
{
	char block[BLOCK];
	memset(block, 'r', sizeof block); /* zeros may become holes on some file systems */
	int file = open(name(i), O_RDWR | O_CREAT | O_TRUNC, 0640);
	if (file < 0) {
		file_failed(c, "open", errno);
		return;
	}
	for (int b = 0; b < BLOCKS; b++) {
		ssize_t written = write(file, block, BLOCK);
		if (written != BLOCK)
			file_failed(c, "write", written < 0 ? errno : ENOSPC);
	}
	if (!cached && i == 0)
		require_cold(c, file);
	if (!cached)
		evict_file(c, file, BY_FADVISE);
	close(file);
}

static void prepare(struct context *c, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		make_file(c, i);
}

static void run(struct context *c, uint64_t n, uint64_t *check)
{
	char buffer[BLOCK];
	uint64_t bytes = 0;
	for (uint64_t i = 0; i < n; i++) {
		int file = open(name(i), O_RDONLY);
		if (file < 0) {
			failed(c, "open");
			return;
		}
		for (int b = 0; b < BLOCKS; b++) {
			if (lseek(file, offset[b], SEEK_SET) != offset[b]) {
				failed(c, "lseek");
				return;
			}
			ssize_t got = read(file, buffer, BLOCK);
			if (got < 0) {
				failed(c, "read");
				return;
			}
			bytes += (uint64_t)got;
		}
		close(file);
		if (unlink(name(i)) != 0) {
			failed(c, "unlink");
			return;
		}
	}
	*check = bytes;
}

static uint64_t expect(struct context *c, uint64_t n)
{
	(void)c;
	return n * bytes_a_file;
}

const struct kernel kernel = {
	.name = "byte/disk-read",
	.setup = setup,
	.prepare = prepare,
	.run = run,
	.expect = expect,
	.max_n = MAX_FILES,
	.files = 1,
};
