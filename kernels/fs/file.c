/* fs/seq-write, seq-read, rand-write, rand-read: latency of reads and writes on an existing file (hp-1987, section 5, tests 17 to 28,
 * tables 5.18 to 5.29).
 *
 * One operation is one write or read of size= bytes, sequential or, including the lseek, at the next record of a fixed random order. Each
 * is timed and recorded separately. A sample has 100 operations. Before a sample the file is clean and completely in the page cache;
 * cached=no: completely out of the page cache, so that a write of a part of a block waits for reading the rest.
 */
#define _GNU_SOURCE
#include "records.h"

static int is_write, cached, read_fd = -1;
static enum cold by;

/* A second descriptor, for direct reads. */
static int open_direct(struct context *c)
{
	int direct = open(NAME, O_RDONLY | O_DIRECT | O_CLOEXEC);
	if (direct < 0 || pread(direct, buffer, size, (off_t)size) != (ssize_t)size)
		skip(c, "Direct reads of %u bytes are not possible here (%s): leave --param cold_by= out, or choose a directory on another device with --dir.",
		     (unsigned)size, strerror(errno));
	return direct;
}

static void setup(struct context *c)
{
	const char *op = parameter(c, "op", ""), *cached_parameter = parameter(c, "cached", "yes");
	is_write = strcmp(op, "write") == 0;
	cached = strcmp(cached_parameter, "yes") == 0;
	if (!is_write && strcmp(op, "read") != 0)
		wrong_arguments(c, "op=%s is neither write nor read", op);
	if (!cached && strcmp(cached_parameter, "no") != 0)
		wrong_arguments(c, "cached=%s is neither yes nor no", cached_parameter);
	if (!limit_is_below(c, RECORDS * parameter_u64(c, "size", 0)))
		return;
	create_records(c);
	read_fd = file;
	if (cached || file < 0)
		return;
	by = parse_cold_by(c);
	require_cold(c, file);
	if (by == BY_DIRECT && is_write)
		skip(c, "A direct write does not read first: leave --param cold_by= out, or choose drop_caches.");
	else if (by == BY_DIRECT)
		read_fd = open_direct(c);
}

static void prepare(struct context *c, uint64_t n)
{
	(void)n;
	if (!cached && by != BY_DIRECT)
		evict_file(c, file, by);
	else if (is_write && fsync(file) != 0)
		file_failed(c, "fsync", errno);
	if (lseek(read_fd, 0, SEEK_SET) != 0)
		failed(c, "lseek");
	generation++;
}

static void run(struct context *c, uint64_t n, uint64_t *check)
{
	int fd = read_fd;
	for (uint64_t i = 0; i < n; i++) {
		uint64_t word = is_write ? stamp(order[i], generation) : 0;
		if (is_write)
			memcpy(buffer, &word, sizeof word);
		uint64_t start = now_ns();
		if (is_random && lseek(fd, (off_t)(order[i] * size), SEEK_SET) < 0) {
			failed(c, "lseek");
			return;
		}
		ssize_t done = is_write ? write(fd, buffer, size) : read(fd, buffer, size);
		uint64_t end = now_ns();
		if (done != (ssize_t)size) {
			file_failed(c, is_write ? "write" : "read", done < 0 ? errno : EIO);
			return;
		}
		record(c, start, end);
		if (!is_write) {
			memcpy(&word, buffer, sizeof word);
			*check = (*check << 1 | *check >> 63) + word;
		}
	}
}

static void finish(struct context *c, uint64_t n, uint64_t *check)
{
	if (!is_write)
		return;
	for (uint64_t i = 0; i < n; i++)
		record_generation[order[i]] = generation;
	*check += count_correct_records(c);
}

/* Writes: number of correct records; reads: order-dependent sum of stamps. */
static uint64_t expect(struct context *c, uint64_t n)
{
	uint64_t sum = 0;
	(void)c;
	for (uint64_t i = 0; !is_write && i < n; i++)
		sum = (sum << 1 | sum >> 63) + stamp(order[i], record_generation[order[i]]);
	return is_write ? RECORDS : sum;
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
