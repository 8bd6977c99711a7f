/* aim/disk-write, aim/disk-read, aim/disk-copy: files in chunks of 10 KB (hp-1987, appendix A, tests 06 to 08; table 4.1, disk throughput,
 * and the text on it).
 *
 * One operation is one chunk of 10,240 bytes of a file that is sequentially written, read, or copied, by system calls alone. A sample is
 * always 400 chunks, 4,096,000 bytes: the document's results were not repeatable, because it wrote for a given time, and with a cache the
 * amount decides.
 *
 * cached=yes uses the page cache. cached=no drops the source from the page cache before timing (fsync and posix_fadvise), and includes an
 * fsync of the target.
 */
#define _GNU_SOURCE
#include "../fs/files.h"

#define CHUNK 10240
#define CHUNKS 400

#define SOURCE "source"
#define TARGET "target"

static char chunk[CHUNK];
static int reads, writes, cached, source = -1;

/* Every chunk starts with its number, which detects missing, duplicate and misplaced chunks. */
static void make_source(struct context *c)
{
	source = open(SOURCE, O_RDWR | O_CREAT | O_TRUNC, 0640);
	if (source < 0) {
		file_failed(c, "open", errno);
		return;
	}
	for (uint64_t i = 0; i < CHUNKS; i++) {
		memcpy(chunk, &i, sizeof i);
		ssize_t written = write(source, chunk, CHUNK);
		if (written != CHUNK) {
			file_failed(c, "write", written < 0 ? errno : ENOSPC);
			return;
		}
	}
}

static void setup(struct context *c)
{
	const char *op = parameter(c, "op", ""), *cached_parameter = parameter(c, "cached", "yes");
	reads = strcmp(op, "read") == 0 || strcmp(op, "copy") == 0;
	writes = strcmp(op, "write") == 0 || strcmp(op, "copy") == 0;
	cached = strcmp(cached_parameter, "yes") == 0;
	if (!reads && !writes)
		wrong_arguments(c, "op=%s is not read, write or copy", op);
	if (!cached && strcmp(cached_parameter, "no") != 0)
		wrong_arguments(c, "cached=%s is neither yes nor no", cached_parameter);
	for (int i = 0; i < CHUNK; i++)
		chunk[i] = (char)('a' + i % 26);
	make_source(c);
	if (cached || source < 0)
		return;
	note(c, "uncached", "posix_fadvise before reading, fsync after writing");
	if (reads)
		require_cold(c, source);
	else
		require_device(c, source);
}

static void prepare(struct context *c, uint64_t n)
{
	(void)n;
	if (reads && !cached)
		evict_file(c, source, BY_FADVISE);
}

static void run(struct context *c, uint64_t n, uint64_t *check)
{
	int from = -1, to = -1;
	if (reads && (from = open(SOURCE, O_RDONLY)) < 0) {
		failed(c, "open");
		return;
	}
	if (writes && (to = creat(TARGET, 0640)) < 0) {
		failed(c, "creat");
		return;
	}
	for (uint64_t i = 0; i < n; i++) {
		uint64_t number = i;
		if (!reads)
			memcpy(chunk, &number, sizeof number);
		else if (read(from, chunk, CHUNK) != CHUNK) {
			failed(c, "read");
			break;
		}
		ssize_t written = writes ? write(to, chunk, CHUNK) : CHUNK;
		if (written != CHUNK) {
			file_failed(c, "write", written < 0 ? errno : ENOSPC);
			break;
		}
		memcpy(&number, chunk, sizeof number);
		*check += number;
	}
	if (writes && !cached && fsync(to) != 0)
		failed(c, "fsync");
	if ((reads && close(from) != 0) || (writes && close(to) != 0))
		failed(c, "close");
}

/* Counts the correct chunks of the new file. */
static void finish(struct context *c, uint64_t n, uint64_t *check)
{
	char found[CHUNK];
	if (!writes)
		return;
	int file = open(TARGET, O_RDONLY);
	if (file < 0) {
		failed(c, "open");
		return;
	}
	for (uint64_t i = 0; i < n && read(file, found, CHUNK) == CHUNK; i++) {
		memcpy(chunk, &i, sizeof i);
		*check += memcmp(found, chunk, CHUNK) == 0;
	}
	close(file);
	if (unlink(TARGET) != 0)
		failed(c, "unlink");
}

/* Sum of chunk numbers, plus written chunks. */
static uint64_t expect(struct context *c, uint64_t n)
{
	(void)c;
	return n * (n - 1) / 2 + (writes ? n : 0);
}

static void teardown(struct context *c)
{
	if (unlink(SOURCE) != 0)
		failed(c, "unlink");
}

const struct kernel kernel = {
	.name = "aim/disk",
	.setup = setup,
	.prepare = prepare,
	.run = run,
	.finish = finish,
	.expect = expect,
	.teardown = teardown,
	.max_n = CHUNKS,
};
