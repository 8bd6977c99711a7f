/* rt/raw-disk/...: one synchronous write past the page cache, to the next line of the program (hp-1987, tables 5.15 to 5.17).
 *
 * One operation is one pwrite of size= bytes, the next in sequence, to a file whose blocks are allocated and were written before,
 * opened with O_DIRECT and O_DSYNC: when it returns, the bytes have left for the device, past the page cache, and a device that
 * has a cache of its own was told to empty it. The document wrote to the raw disk; a file is what one may write to on a
 * disk that is in use (device=none). Another is named by device=, and its beginning written to, which disk/device.h guards. Each write
 * carries its number, and all of them are read back from the device afterwards.
 */
#define _GNU_SOURCE
#include "../disk/device.h"

#define NAME "raw"
#define PLACES 256 /* writes until the file is full, and the first place comes again */

static int file = -1, on_device;
static size_t size;
static char *block;

static off_t place_of(uint64_t number)
{
	return (off_t)(number % PLACES * size);
}

static void open_file(struct context *c)
{
	file = open(NAME, O_RDWR | O_CREAT | O_TRUNC | O_DIRECT | O_DSYNC | O_CLOEXEC, 0600);
	if (file < 0 && errno == EINVAL)
		skip(c, "the file system here has no O_DIRECT; choose a directory on a disk with --dir");
	else if (file < 0)
		failed(c, "open");
}

/* Every place once. */
static void write_all(struct context *c)
{
	for (uint64_t i = 0; i < PLACES; i++) {
		ssize_t wrote = pwrite(file, block, size, place_of(i));
		if (wrote == (ssize_t)size)
			continue;
		if (wrote < 0 && errno == EINVAL && i == 0)
			skip(c, "the device here takes no direct writes of %zu bytes; choose a directory on another one with --dir, or name one with --param device=",
			     size);
		else
			went_wrong(c, "pwrite", wrote < 0 ? errno : ENOSPC);
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
		file = open_device(c, device, PLACES * size, O_DSYNC);
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
		memcpy(block, &i, sizeof i);
		uint64_t start = now_ns();
		ssize_t wrote = pwrite(file, block, size, place_of(i));
		uint64_t end = now_ns();
		if (wrote != (ssize_t)size) {
			failed(c, "pwrite");
			return;
		}
		record(c, start, end);
	}
}

/* What stands at the last of each place that was written to. */
static void finish(struct context *c, uint64_t n, uint64_t *check)
{
	for (uint64_t i = n > PLACES ? n - PLACES : 0; i < n; i++) {
		uint64_t number;
		if (pread(file, block, size, place_of(i)) != (ssize_t)size) {
			failed(c, "pread");
			return;
		}
		memcpy(&number, block, sizeof number);
		*check += number;
	}
}

static uint64_t expect(struct context *c, uint64_t n)
{
	(void)c;
	uint64_t first = n > PLACES ? n - PLACES : 0;
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
