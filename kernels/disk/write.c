/* disk/write-nofsync, write-fsync, write-sync: an amount of data written to a new file (hp-1987, section 7, table 7.2).
 *
 * One operation is bytes= in writes of 8 KB from front to back; the file is new and empty, and made before the clock starts.
 * how=nofsync leaves the data to the system, fsync calls that once at the end, sync has every write wait for the device (O_DSYNC).
 * What was waited for is then shown to be clean: the kernel lets go of it, and it is read back from the device.
 */
#define _GNU_SOURCE
#include "transfer.h"

#define BLOCK 8192
#define PUBLISHED (4 << 20)
#define NAME "data"

static struct transfer all = {.writes = 1};
static int file = -1, waits, every;

static void open_new(struct context *c)
{
	file = open(NAME, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | (every ? O_DSYNC : 0), 0600);
	if (file < 0)
		file_failed(c, "open", errno);
}

static void close_old(struct context *c)
{
	if (close(file) != 0 || unlink(NAME) != 0)
		failed(c, "unlink");
	file = -1;
}

static void setup(struct context *c)
{
	const char *how = parameter(c, "how", "");
	every = strcmp(how, "sync") == 0;
	waits = every || strcmp(how, "fsync") == 0;
	if (!waits && strcmp(how, "nofsync") != 0)
		wrong_arguments(c, "how=%s is none of nofsync, fsync and sync", how);
	if (parameter_u64(c, "memory_pages", 0) != 0 && strcmp(parameter(c, "confined", "no"), "yes") != 0)
		skip(c, "No control group holds the program to less memory than it writes (%s): as root this row runs.",
		     parameter(c, "unconfined", "none was made"));
	if (waits)
		note(c, "uncached", "%s", every ? "O_DSYNC" : "fsync after writing");
	transfer_begin(c, &all, BLOCK, PUBLISHED);
	open_new(c);
	if (file < 0)
		return;
	if (pwrite(file, all.buffers, BLOCK, 0) != BLOCK)
		file_failed(c, "write", ENOSPC);
	require_device(c, file);
	close_old(c);
}

static void prepare(struct context *c, uint64_t n)
{
	(void)n;
	all.generation++;
	open_new(c);
	/* what removing the last one left to do is done */
	if (file >= 0 && fsync(file) != 0)
		file_failed(c, "fsync", errno);
}

static void run(struct context *c, uint64_t n, uint64_t *check)
{
	for (uint64_t i = 0; i < n; i++) {
		if (transfer(c, &all, file, check) != 0)
			return;
		if (waits && !every && fsync(file) != 0)
			file_failed(c, "fsync", errno);
	}
}

static void finish(struct context *c, uint64_t n, uint64_t *check)
{
	(void)n;
	if (waits)
		check_clean(c, file);
	*check += right_blocks(c, &all, file);
	close_old(c);
}

static uint64_t expect(struct context *c, uint64_t n)
{
	(void)c;
	return n * transfer_sum(&all) + all.blocks;
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
