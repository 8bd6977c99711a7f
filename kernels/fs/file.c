/* fs/seq-write, seq-read, rand-write, rand-read: one hundred operations on a file that was made before (hp-1987, section 5,
 * tests 17 to 28, tables 5.18 to 5.29).
 *
 * One operation is one write or one read of size= bytes, at the next place of the file or, with the lseek that goes there in
 * its time, at the next one of a fixed order. Each is timed by itself and handed to the recorder. A sample is always one hundred.
 * Nothing of the file is dirty when a hundred begins, and all of it is in the page cache; cached=no: nothing of it is, so that a write of
 * a part of a block waits until the rest is read.
 */
#define _GNU_SOURCE
#include "records.h"

static int writes, cached, reading = -1;
static enum cold by;

/* Another opening of the file, whose reads come from the device. */
static int past_the_cache(struct context *c)
{
	int direct = open(NAME, O_RDONLY | O_DIRECT | O_CLOEXEC);
	if (direct < 0 || pread(direct, buffer, size, (off_t)size) != (ssize_t)size)
		skip(c, "Reads of %u bytes past the cache are not possible here (%s): leave --param cold_by= out, or choose a directory on another device with --dir.",
		     (unsigned)size, strerror(errno));
	return direct;
}

static void setup(struct context *c)
{
	const char *op = parameter(c, "op", ""), *kept = parameter(c, "cached", "yes");
	writes = strcmp(op, "write") == 0;
	cached = strcmp(kept, "yes") == 0;
	if (!writes && strcmp(op, "read") != 0)
		wrong_arguments(c, "op=%s is neither write nor read", op);
	if (!cached && strcmp(kept, "no") != 0)
		wrong_arguments(c, "cached=%s is neither yes nor no", kept);
	if (parameter_u64(c, "memory_pages", 0) != 0 && strcmp(parameter(c, "confined", "no"), "yes") != 0)
		skip(c, "No control group limits the cache to less than the file (%s): it takes root.", parameter(c, "unconfined", "none was made"));
	create_records(c);
	reading = file;
	if (cached || file < 0)
		return;
	by = parse_cold_by(c);
	require_device(c, file);
	if (by == BY_DIRECT && writes)
		skip(c, "A write past the cache reads nothing first: leave --param cold_by= out, or choose drop_caches.");
	else if (by == BY_DIRECT)
		reading = past_the_cache(c);
}

static void prepare(struct context *c, uint64_t n)
{
	(void)n;
	if (!cached && by != BY_DIRECT)
		evict_file(c, file, by);
	else if (writes && fsync(file) != 0)
		file_failed(c, "fsync", errno);
	if (lseek(reading, 0, SEEK_SET) != 0)
		failed(c, "lseek");
	generation++;
}

static void run(struct context *c, uint64_t n, uint64_t *check)
{
	int on = reading;
	for (uint64_t i = 0; i < n; i++) {
		uint64_t word = writes ? stamp(order[i], generation) : 0;
		if (writes)
			memcpy(buffer, &word, sizeof word);
		uint64_t start = now_ns();
		if (is_random && lseek(on, (off_t)(order[i] * size), SEEK_SET) < 0) {
			failed(c, "lseek");
			return;
		}
		ssize_t done = writes ? write(on, buffer, size) : read(on, buffer, size);
		uint64_t end = now_ns();
		if (done != (ssize_t)size) {
			file_failed(c, writes ? "write" : "read", done < 0 ? errno : EIO);
			return;
		}
		record(c, start, end);
		if (!writes) {
			memcpy(&word, buffer, sizeof word);
			*check = (*check << 1 | *check >> 63) + word;
		}
	}
}

static void finish(struct context *c, uint64_t n, uint64_t *check)
{
	if (!writes)
		return;
	for (uint64_t i = 0; i < n; i++)
		record_generation[order[i]] = generation;
	*check += count_correct_records(c);
}

/* Every record is what it must be; those that were read came in their order. */
static uint64_t expect(struct context *c, uint64_t n)
{
	uint64_t sum = 0;
	(void)c;
	for (uint64_t i = 0; !writes && i < n; i++)
		sum = (sum << 1 | sum >> 63) + stamp(order[i], record_generation[order[i]]);
	return writes ? RECORDS : sum;
}

const struct kernel kernel = {
	.name = "fs/file",
	.setup = setup,
	.prepare = prepare,
	.run = run,
	.finish = finish,
	.expect = expect,
	.teardown = remove_records,
	.max_n = RECORDS,
};
