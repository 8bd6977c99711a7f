/* disk/raw-write: direct sequential writes of 64 KB (hp-1987, section 7, table 7.3 and the text on raw disk writes).
 *
 * One operation is bytes= in sequential writes of 64 KB (O_DIRECT). device=none: over a written file with allocated blocks, as on a raw
 * disk; otherwise over the beginning of a block device, guarded by device.h. All data is read back the same way afterwards.
 */
#define _GNU_SOURCE
#include "device.h"
#include "transfer.h"

#define BLOCK 65536
#define PUBLISHED (4 << 20)
#define NAME "data"

static struct transfer data = {.writes = 1};
static int file = -1, on_device;

static void open_file(struct context *c)
{
	int new_file = open(NAME, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (new_file < 0) {
		file_failed(c, "open", errno);
		return;
	}
	for (uint64_t i = 0; i < data.blocks; i++) {
		ssize_t put = pwrite(new_file, data.buffers, BLOCK, (off_t)(i * BLOCK));
		if (put != BLOCK) {
			file_failed(c, "write", put < 0 ? errno : ENOSPC);
			return;
		}
	}
	require_device(c, new_file);
	close(new_file);
	file = open(NAME, O_RDWR | O_DIRECT | O_CLOEXEC);
	if (file < 0)
		skip(c, "The file system here does not support direct writes (O_DIRECT: %s): choose a directory on another one with --dir, or a device with --param device=.",
		     strerror(errno));
}

static void setup(struct context *c)
{
	const char *device = parameter(c, "device", "none");
	on_device = strcmp(device, "none") != 0;
	setup_transfer(c, &data, BLOCK, PUBLISHED);
	note(c, "uncached", "O_DIRECT");
	if (data.buffers == NULL)
		return;
	if (on_device) {
		file = open_device(c, device, data.blocks * BLOCK, 0);
		note(c, "measured", "past the cache of %s", device);
	} else {
		open_file(c);
	}
}

static void prepare(struct context *c, uint64_t n)
{
	(void)c;
	(void)n;
	data.generation++;
}

static void run(struct context *c, uint64_t n, uint64_t *check)
{
	for (uint64_t i = 0; i < n; i++)
		if (transfer(c, &data, file, check) != 0)
			return;
}

static void finish(struct context *c, uint64_t n, uint64_t *check)
{
	(void)n;
	*check += count_correct_blocks(c, &data, file);
}

static uint64_t expect(struct context *c, uint64_t n)
{
	(void)c;
	return n * transfer_sum(&data) + data.blocks;
}

static void teardown(struct context *c)
{
	if (!on_device && unlink(NAME) != 0)
		failed(c, "unlink");
}

const struct kernel kernel = {
	.name = "disk/raw",
	.setup = setup,
	.prepare = prepare,
	.run = run,
	.finish = finish,
	.expect = expect,
	.teardown = teardown,
	.single = 1,
};
