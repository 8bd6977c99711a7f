/* fs/fsync: fsync latency after 100 writes (hp-1987, section 5, the lines under tables 5.18 to 5.26).
 *
 * One operation is one fsync, after 100 records of size= bytes were written to a clean file, untimed, in the order of the write benchmarks.
 * The file is then verified to be clean: its pages can be dropped, and the data is read back from the device.
 */
#define _GNU_SOURCE
#include "records.h"

static void setup(struct context *c)
{
	create_records(c);
	note(c, "uncached", "fsync after writing");
	if (file >= 0)
		require_device(c, file);
}

static void prepare(struct context *c, uint64_t n)
{
	(void)n;
	generation++;
	for (unsigned i = 0; i < RECORDS; i++) {
		uint64_t word = stamp(order[i], generation);
		memcpy(buffer, &word, sizeof word);
		record_generation[order[i]] = generation;
		ssize_t written = pwrite(file, buffer, size, (off_t)(order[i] * size));
		if (written != (ssize_t)size) {
			file_failed(c, "write", written < 0 ? errno : ENOSPC);
			return;
		}
	}
}

static void run(struct context *c, uint64_t n, uint64_t *check)
{
	for (uint64_t i = 0; i < n; i++) {
		uint64_t start = now_ns();
		int status = fsync(file);
		uint64_t end = now_ns();
		if (status != 0) {
			file_failed(c, "fsync", errno);
			return;
		}
		record(c, start, end);
		(*check)++;
	}
}

static void finish(struct context *c, uint64_t n, uint64_t *check)
{
	(void)n;
	check_clean(c, file);
	*check += count_correct_records(c);
}

static uint64_t expect(struct context *c, uint64_t n)
{
	(void)c;
	return n + RECORDS;
}

const struct kernel kernel = {
	.name = "fs/fsync",
	.setup = setup,
	.prepare = prepare,
	.run = run,
	.finish = finish,
	.expect = expect,
	.teardown = remove_records,
	.single = 1,
};
