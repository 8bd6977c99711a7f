/* file/io-uring/..., file/pread: requests by an io_uring against calls of the system (io_uring(7)).
 *
 * One operation is batch= requests that are handed over by one io_uring_enter, which returns when all of them are done, and the look at
 * what came of each. how=nop: they do nothing, which is the price of the way. how=read: each reads 4 KB of a file that the
 * system has in memory, one after the other. how=pread is the same reading by batch= calls of the system.
 */
#define _GNU_SOURCE
#include <fcntl.h>

#include "uring.h"

#define BLOCK 4096
#define BLOCKS 64
#define MOST 64

static struct {
	uint64_t number;
	char rest[BLOCK - sizeof(uint64_t)];
} block[MOST];
static uint32_t batch;
static int file = -1;
static uint64_t at; /* the next block of the file, on and on */
static enum { NOP, READ, PREAD } how;

/* Every block has its number in front. */
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
	for (how = NOP; how <= PREAD && strcmp(name, names[how]) != 0; how++)
		;
	if (how > PREAD || batch < 1 || batch > MOST || (batch & (batch - 1)) != 0)
		wrong_arguments(c, "how=%s is none of nop, read and pread, or batch=%u is no power of two up to %d", name, batch,
			       MOST);
	if (how != NOP && !make_file(c))
		return;
	if (how != PREAD)
		setup_uring(c, batch);
}

static void prepare(struct context *c, uint64_t n)
{
	(void)c;
	(void)n;
	at = 0;
}

static int by_calls(struct context *c, uint64_t *check)
{
	for (uint32_t i = 0; i < batch; i++, at++) {
		if (pread(file, &block[i], BLOCK, (off_t)(at % BLOCKS * BLOCK)) != BLOCK) {
			failed(c, "pread");
			return 0;
		}
		*check += block[i].number + 1;
	}
	return 1;
}

static int by_ring(struct context *c, uint64_t *check)
{
	for (uint32_t i = 0; i < batch; i++, at++) {
		struct io_uring_sqe *request = next_request(i);
		*request = (struct io_uring_sqe){.opcode = IORING_OP_NOP, .user_data = i};
		if (how == READ) {
			request->opcode = IORING_OP_READ;
			request->fd = file;
			request->addr = (uint64_t)(uintptr_t)&block[i];
			request->len = BLOCK;
			request->off = at % BLOCKS * BLOCK;
		}
	}
	if (!ask(batch)) {
		failed(c, "io_uring_enter");
		return 0;
	}
	for (uint32_t i = 0; i < batch; i++) {
		const struct io_uring_cqe *done = next_completion();
		if (done == NULL || done->user_data >= batch || done->res != (how == READ ? BLOCK : 0)) {
			failed_because(c, "io_uring", "request %u ended with %d", i, done == NULL ? 0 : done->res);
			return 0;
		}
		*check += how == READ ? block[done->user_data].number + 1 : 1;
	}
	return 1;
}

static void run(struct context *c, uint64_t n, uint64_t *check)
{
	for (uint64_t i = 0; i < n && (how == PREAD ? by_calls(c, check) : by_ring(c, check)); i++)
		;
}

/* Requests, or the numbers of blocks from 1 to BLOCKS, over and over. */
static uint64_t expect(struct context *c, uint64_t n)
{
	uint64_t all = n * batch, rest = all % BLOCKS;
	(void)c;
	return how == NOP ? all : all / BLOCKS * (BLOCKS * (BLOCKS + 1) / 2) + rest * (rest + 1) / 2;
}

const struct kernel kernel = {.name = "file/uring", .setup = setup, .prepare = prepare, .run = run, .expect = expect};
