/* rt/raw-disk/...: latency of a synchronous direct write (hp-1987, tables 5.15 to 5.17).
 *
 * One operation is one sequential pwrite of size= bytes to a file with allocated, written blocks, opened with O_DIRECT and O_DSYNC: when it
 * returns, the data has bypassed the page cache and the device's volatile cache was flushed. The document wrote to the raw disk; on a disk
 * in use one may only write to a file (device=none). device= names another block device, whose beginning is overwritten, guarded by
 * disk/device.h. Each write carries its number, and all are read back from the device afterwards.
 */
#define _GNU_SOURCE
#include "../disk/device.h"
#include <sys/vfs.h>

#define NAME "raw"
#define TMPFS 0x01021994u /* f_type of statfs(2) */
#define RAMFS 0x858458f6u
#define BLOCKS 256 /* blocks in the file, written round robin */

static int file = -1, on_device;
static size_t size;
static char *block;
/* Writes of earlier regions: no region writes what another has written. */
static uint64_t written = 1;

static off_t block_offset(uint64_t number)
{
	return (off_t)(number % BLOCKS * size);
}

static void open_file(struct context *c)
{
	struct statfs kind;
	file = open(NAME, O_RDWR | O_CREAT | O_TRUNC | O_DIRECT | O_DSYNC | O_CLOEXEC, 0600);
	if (file < 0 && errno == EINVAL)
		skip(c, "the file system here has no O_DIRECT; choose a directory on a disk with --dir");
	else if (file < 0)
		failed(c, "open");
	else if (fstatfs(file, &kind) == 0 && ((uint32_t)kind.f_type == TMPFS || (uint32_t)kind.f_type == RAMFS))
		skip(c, "the file system here is in memory; choose a directory on a disk with --dir");
}

static void write_all(struct context *c)
{
	for (uint64_t i = 0; i < BLOCKS; i++) {
		ssize_t wrote = pwrite(file, block, size, block_offset(i));
		if (wrote == (ssize_t)size)
			continue;
		if (wrote < 0 && errno == EINVAL && i == 0)
			skip(c, "the device here does not support direct writes of %zu bytes; choose a directory on another one with --dir, or name one with --param device=",
			     size);
		else
			file_failed(c, "pwrite", wrote < 0 ? errno : ENOSPC);
		return;
	}
	if (fsync(file) != 0)
		failed(c, "fsync");
}

static void setup(struct context *c)
{
	const char *device = parameter(c, "device", "none");
	on_device = strcmp(device, "none") != 0;
	size = (size_t)parameter_u64(c, "size", 0);
	if (size == 0 || size > 1 << 20 || size % 512 != 0)
		wrong_arguments(c, "size=%zu is not a multiple of 512, up to 1 MB", size);
	block = aligned_alloc(ALIGNMENT, (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT);
	if (block == NULL) {
		failed(c, "aligned_alloc");
		return;
	}
	memset(block, 0, size);
	note(c, "uncached", "O_DIRECT");
	if (on_device) {
		file = open_device(c, device, BLOCKS * size, O_DSYNC);
		note(c, "measured", "past the cache of %s", device);
	} else {
		open_file(c);
	}
	if (file >= 0)
		write_all(c);
}

static void run(struct context *c, uint64_t n, uint64_t *check)
{
	(void)check;
	for (uint64_t i = 0; i < n; i++) {
		uint64_t number = written + i;
		memcpy(block, &number, sizeof number);
		uint64_t start = now_ns();
		ssize_t wrote = pwrite(file, block, size, block_offset(i));
		uint64_t end = now_ns();
		if (wrote != (ssize_t)size) {
			failed(c, "pwrite");
			return;
		}
		record(c, start, end);
	}
}

/* Reads the last content of each written block. */
static void finish(struct context *c, uint64_t n, uint64_t *check)
{
	for (uint64_t i = n > BLOCKS ? n - BLOCKS : 0; i < n; i++) {
		uint64_t number;
		if (pread(file, block, size, block_offset(i)) != (ssize_t)size) {
			failed(c, "pread");
			return;
		}
		memcpy(&number, block, sizeof number);
		*check += number - written;
	}
	written += n;
}

static uint64_t expect(struct context *c, uint64_t n)
{
	(void)c;
	uint64_t first = n > BLOCKS ? n - BLOCKS : 0;
	return n * (n - 1) / 2 - (first > 0 ? first * (first - 1) / 2 : 0);
}

static void teardown(struct context *c)
{
	if (!on_device && unlink(NAME) != 0)
		failed(c, "unlink");
}

const struct kernel kernel = {
	.name = "rt/raw-disk",
	.setup = setup,
	.run = run,
	.finish = finish,
	.expect = expect,
	.teardown = teardown,
};
