/* What the programs of this family share: an amount of data that goes to a file or comes from one in blocks, one call after the
 * other (engine=sync) or so many in flight (engine=io_uring, queue_depth=), with a stamp in front of each block. */
#ifndef GRITSTONE_DISK_TRANSFER_H
#define GRITSTONE_DISK_TRANSFER_H

#include "ring.h"

#define MOST_BYTES ((uint64_t)1 << 30)
#define MOST_IN_FLIGHT 64

struct transfer {
	int writes;
	size_t block;	      /* bytes a call */
	uint64_t blocks;      /* how many calls */
	const uint32_t *order; /* which block each call is of; NULL: one after the other */
	uint64_t generation;  /* the writing that they are of */
	char *buffers;	      /* one of `block` bytes for each that may be in flight */
	unsigned depth;	      /* 0: one after the other */
	struct ring ring;
};

/* From setup: bytes= in blocks, and the engine. */
static inline void transfer_begin(struct context *c, struct transfer *t, size_t block, uint64_t bytes)
{
	const char *engine = parameter(c, "engine", "sync");
	uint64_t depth = parameter_u64(c, "queue_depth", 8), total = parameter_u64(c, "bytes", bytes);
	t->block = block;
	t->blocks = total / block;
	if (total == 0 || total % block != 0 || total > MOST_BYTES || depth < 1 || depth > MOST_IN_FLIGHT)
		wrong_arguments(c, "bytes= must be a multiple of %u up to 1 GB, and queue_depth= 1 to %d", (unsigned)block,
			       MOST_IN_FLIGHT);
	t->buffers = aligned_alloc(ALIGNMENT, MOST_IN_FLIGHT * block);
	if (t->buffers == NULL) {
		failed(c, "aligned_alloc");
		return;
	}
	memset(t->buffers, 'a', MOST_IN_FLIGHT * block);
	if (strcmp(engine, "io_uring") == 0) {
		t->depth = (unsigned)depth;
		ring_open(c, &t->ring, t->depth);
		note(c, "queue_depth", "%u", t->depth);
	} else if (strcmp(engine, "sync") != 0) {
		wrong_arguments(c, "engine=%s is neither sync nor io_uring", engine);
	}
}

static inline uint64_t block_of(const struct transfer *t, uint64_t i)
{
	return t->order == NULL ? i : t->order[i];
}

static inline void fill(const struct transfer *t, char *buffer, uint64_t i)
{
	uint64_t word = stamp(block_of(t, i), t->generation);
	if (t->writes)
		memcpy(buffer, &word, sizeof word);
}

static inline uint64_t look(const char *buffer)
{
	uint64_t word;
	memcpy(&word, buffer, sizeof word);
	return word;
}

/* A call that moved less than a block, or failed. */
static int moved_wrong(struct context *c, const struct transfer *t, long moved, int error)
{
	return file_failed(c, t->writes ? "write" : "read", moved < 0 ? error : t->writes ? ENOSPC : EIO);
}

static int in_turn(struct context *c, struct transfer *t, int file, uint64_t *check)
{
	for (uint64_t i = 0; i < t->blocks; i++) {
		off_t place = (off_t)(block_of(t, i) * t->block);
		fill(t, t->buffers, i);
		ssize_t moved = t->writes ? pwrite(file, t->buffers, t->block, place) : pread(file, t->buffers, t->block, place);
		if (moved != (ssize_t)t->block)
			return moved_wrong(c, t, moved, errno);
		*check += look(t->buffers);
	}
	return 0;
}

static int in_flight(struct context *c, struct transfer *t, int file, uint64_t *check)
{
	unsigned idle[MOST_IN_FLIGHT], idles = t->depth, slot;
	uint64_t next = 0, done = 0;
	int moved;
	for (unsigned i = 0; i < idles; i++)
		idle[i] = i;
	while (done < t->blocks) {
		unsigned added = 0;
		for (; idles > 0 && next < t->blocks; next++, added++) {
			slot = idle[--idles];
			char *buffer = t->buffers + slot * t->block;
			fill(t, buffer, next);
			ring_add(&t->ring, t->writes ? IORING_OP_WRITE : IORING_OP_READ, file, buffer, (unsigned)t->block,
				 block_of(t, next) * t->block, slot);
		}
		if (ring_enter(&t->ring, added) != 0) {
			failed(c, "io_uring_enter");
			return -1;
		}
		for (; ring_next(&t->ring, &slot, &moved); done++) {
			if (moved != (int)t->block)
				return moved_wrong(c, t, moved, -moved);
			*check += look(t->buffers + slot * t->block);
			idle[idles++] = slot;
		}
	}
	return 0;
}

/* All blocks once; adds up what stands in front of them. 0, or -1 when it has failed. */
static inline int transfer(struct context *c, struct transfer *t, int file, uint64_t *check)
{
	return t->depth == 0 ? in_turn(c, t, file, check) : in_flight(c, t, file, check);
}

/* What stands in front of all blocks together. */
static inline uint64_t transfer_sum(const struct transfer *t)
{
	uint64_t sum = 0;
	for (uint64_t i = 0; i < t->blocks; i++)
		sum += stamp(block_of(t, i), t->generation);
	return sum;
}

/* Blocks of the file that are as they were written, stamp and all. */
static inline uint64_t right_blocks(struct context *c, struct transfer *t, int file)
{
	char *wanted = t->buffers, *found = t->buffers + t->block;
	uint64_t right = 0;
	for (uint64_t i = 0; i < t->blocks; i++) {
		fill(t, wanted, i);
		if (pread(file, found, t->block, (off_t)(i * t->block)) != (ssize_t)t->block) {
			failed(c, "pread");
			return right;
		}
		right += memcmp(found, wanted, t->block) == 0;
	}
	memset(found, 'a', t->block); /* as it was, should it have been another block's */
	return right;
}

#endif
