/* disk/write-nofsync, write-fsync, write-sync: sequential writes to a new file (hp-1987, section 7, table 7.2).
 *
 * One operation is bytes= in sequential writes of 8 KB to an empty file, created untimed. how=nofsync leaves the data in the page cache,
 * fsync calls fsync(2) once at the end, sync opens with O_DSYNC. For the latter two the file is then verified to be clean: its pages can be
 * dropped, and the data is read back from the device.
 */
#define _GNU_SOURCE
#include "transfer.h"

#define BLOCK 8192
#define PUBLISHED (4 << 20)
#define NAME "data"

static struct transfer data = {.writes = 1};
static int file = -1, durable, use_dsync;

static void create_file(struct context *c)
{
	file = open(NAME, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | (use_dsync ? O_DSYNC : 0), 0600);
	if (file < 0)
		file_failed(c, "open", errno);
}

static void remove_file(struct context *c)
{
	if (close(file) != 0 || unlink(NAME) != 0)
		failed(c, "unlink");
	file = -1;
}

static void setup(struct context *c)
{
	const char *how = parameter(c, "how", "");
	use_dsync = strcmp(how, "sync") == 0;
	durable = use_dsync || strcmp(how, "fsync") == 0;
	if (!durable && strcmp(how, "nofsync") != 0)
		wrong_arguments(c, "how=%s is not nofsync, fsync or sync", how);
	if (durable)
		note(c, "uncached", "%s", use_dsync ? "O_DSYNC" : "fsync after writing");
	setup_transfer(c, &data, BLOCK, PUBLISHED);
	if (!limit_is_below(c, data.blocks * BLOCK))
		return;
	create_file(c);
	if (file < 0)
		return;
	if (pwrite(file, data.buffers, BLOCK, 0) != BLOCK)
		file_failed(c, "write", ENOSPC);
	require_device(c, file);
	remove_file(c);
}

static void prepare(struct context *c, uint64_t n)
{
	(void)n;
	data.generation++;
	create_file(c);
	/* completes deferred work of the last removal */
	if (file >= 0 && fsync(file) != 0)
		file_failed(c, "fsync", errno);
}

static void run(struct context *c, uint64_t n, uint64_t *check)
{
	for (uint64_t i = 0; i < n; i++) {
		if (transfer(c, &data, file, check) != 0)
			return;
		if (durable && !use_dsync && fsync(file) != 0)
			file_failed(c, "fsync", errno);
	}
}

static void finish(struct context *c, uint64_t n, uint64_t *check)
{
	(void)n;
	if (durable)
		check_clean(c, file);
	*check += count_correct_blocks(c, &data, file);
	remove_file(c);
}

static uint64_t expect(struct context *c, uint64_t n)
{
	(void)c;
	return n * transfer_sum(&data) + data.blocks;
}

const struct kernel kernel = {
	.name = "disk/write",
	.setup = setup,
	.prepare = prepare,
	.run = run,
	.finish = finish,
	.expect = expect,
	.single = 1,
};
