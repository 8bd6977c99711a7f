/* file/io-uring/..., file/pread: io_uring requests compared with system calls (io_uring(7)).
 *
 * One operation submits batch= requests by one io_uring_enter, which returns when all are complete, and reaps the completions. how=nop:
 * no-ops, the overhead of the mechanism. how=read: each reads the next 4 KB of a cached file. how=pread reads the same by batch= system
 * calls.
 */
#define _GNU_SOURCE
#include <fcntl.h>

#include "uring.h"

#define BLOCK 4096
#define BLOCKS 64
#define MAX_BATCH 64

static struct {
	uint64_t number;
	char rest[BLOCK - sizeof(uint64_t)];
} block[MAX_BATCH];
static uint32_t batch;
static int file = -1;
static uint64_t next_block; /* of the file, cyclic */
static enum { NOP, READ, PREAD } mode;

/* Every block starts with its number. */
static int make_file(struct context *c)
{
	file = open("blocks", O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	for (uint64_t i = 0; i < BLOCKS; i++) {
		block[0].number = i;
		if (file < 0 || write(file, &block[0], BLOCK) != BLOCK) {
			failed(c, "write");
			return 0;
		}
	}
	return 1;
}

static void setup(struct context *c)
{
	static const char *const names[] = {"nop", "read", "pread"};
	const char *name = parameter(c, "how", "");
	batch = (uint32_t)parameter_u64(c, "batch", 1);
	for (mode = NOP; mode <= PREAD && strcmp(name, names[mode]) != 0; mode++)
		;
	if (mode > PREAD || batch < 1 || batch > MAX_BATCH || (batch & (batch - 1)) != 0)
		wrong_arguments(c, "how=%s is not nop, read or pread, or batch=%u is not a power of two up to %d", name, batch,
			       MAX_BATCH);
	if (mode != NOP && !make_file(c))
		return;
	if (mode != PREAD)
		setup_uring(c, batch);
}

static void prepare(struct context *c, uint64_t n)
{
	(void)c;
	(void)n;
	next_block = 0;
}

static int read_by_pread(struct context *c, uint64_t *check)
{
	for (uint32_t i = 0; i < batch; i++, next_block++) {
		if (pread(file, &block[i], BLOCK, (off_t)(next_block % BLOCKS * BLOCK)) != BLOCK) {
			failed(c, "pread");
			return 0;
		}
		*check += block[i].number + 1;
	}
	return 1;
}

static int run_by_ring(struct context *c, uint64_t *check)
{
	for (uint32_t i = 0; i < batch; i++, next_block++) {
		struct io_uring_sqe *request = next_request(i);
		*request = (struct io_uring_sqe){.opcode = IORING_OP_NOP, .user_data = i};
		if (mode == READ) {
			request->opcode = IORING_OP_READ;
			request->fd = file;
			request->addr = (uint64_t)(uintptr_t)&block[i];
			request->len = BLOCK;
			request->off = next_block % BLOCKS * BLOCK;
		}
	}
	if (!submit_and_wait(batch)) {
		failed(c, "io_uring_enter");
		return 0;
	}
	for (uint32_t i = 0; i < batch; i++) {
		const struct io_uring_cqe *done = next_completion();
		if (done == NULL || done->user_data >= batch || done->res != (mode == READ ? BLOCK : 0)) {
			failed_because(c, "io_uring", "request %u ended with %d", i, done == NULL ? 0 : done->res);
			return 0;
		}
		*check += mode == READ ? block[done->user_data].number + 1 : 1;
	}
	return 1;
}

static void run(struct context *c, uint64_t n, uint64_t *check)
{
	for (uint64_t i = 0; i < n && (mode == PREAD ? read_by_pread(c, check) : run_by_ring(c, check)); i++)
		;
}

/* Number of requests, or sum of the cyclic block numbers 1 to BLOCKS. */
static uint64_t expect(struct context *c, uint64_t n)
{
	uint64_t total = n * batch, rest = total % BLOCKS;
	(void)c;
	return mode == NOP ? total : total / BLOCKS * (BLOCKS * (BLOCKS + 1) / 2) + rest * (rest + 1) / 2;
}

const struct kernel kernel = {.name = "file/uring", .setup = setup, .prepare = prepare, .run = run, .expect = expect};
