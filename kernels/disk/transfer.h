/* Common part of the disk benchmarks: writing or reading a file in blocks, synchronously (engine=sync) or with several in flight
 * (engine=io_uring, queue_depth=); each block starts with a stamp. */
#ifndef GRITSTONE_DISK_TRANSFER_H
#define GRITSTONE_DISK_TRANSFER_H

#include "ring.h"

#define MAX_BYTES ((uint64_t)1 << 30)
#define MAX_QUEUE_DEPTH 64

struct transfer {
	int writes;
	size_t block;	      /* bytes per call */
	uint64_t blocks;      /* number of calls */
	const uint32_t *order; /* block of each call; NULL: sequential */
	uint64_t generation;  /* of the stamps */
	char *buffers;	      /* MAX_QUEUE_DEPTH buffers of `block` bytes */
	unsigned depth;	      /* 0: synchronous */
	struct ring ring;
};

/* From setup. Parses bytes=, engine= and queue_depth=. */
static inline void setup_transfer(struct context *c, struct transfer *t, size_t block, uint64_t bytes)
{
	const char *engine = parameter(c, "engine", "sync");
	uint64_t depth = parameter_u64(c, "queue_depth", 8), total = parameter_u64(c, "bytes", bytes);
	t->block = block;
	t->blocks = total / block;
	if (total == 0 || total % block != 0 || total > MAX_BYTES || depth < 1 || depth > MAX_QUEUE_DEPTH)
		wrong_arguments(c, "bytes= must be a multiple of %u up to 1 GB, and queue_depth= 1 to %d", (unsigned)block,
			       MAX_QUEUE_DEPTH);
	t->buffers = aligned_alloc(ALIGNMENT, MAX_QUEUE_DEPTH * block);
	if (t->buffers == NULL) {
		failed(c, "aligned_alloc");
		return;
	}
	memset(t->buffers, 'a', MAX_QUEUE_DEPTH * block);
	if (strcmp(engine, "io_uring") == 0) {
		t->depth = (unsigned)depth;
		ring_open(c, &t->ring, t->depth);
		note(c, "queue_depth", "%u", t->depth);
	} else if (strcmp(engine, "sync") != 0) {
		wrong_arguments(c, "engine=%s is neither sync nor io_uring", engine);
	}
}

static inline uint64_t block_number(const struct transfer *t, uint64_t i)
{
	return t->order == NULL ? i : t->order[i];
}

static inline void fill_stamp(const struct transfer *t, char *buffer, uint64_t i)
{
	uint64_t word = stamp(block_number(t, i), t->generation);
	if (t->writes)
		memcpy(buffer, &word, sizeof word);
}

static inline uint64_t read_stamp(const char *buffer)
{
	uint64_t word;
	memcpy(&word, buffer, sizeof word);
	return word;
}

/* Reports a short or failed transfer. */
static int report_short(struct context *c, const struct transfer *t, long result, int error)
{
	return file_failed(c, t->writes ? "write" : "read", result < 0 ? error : t->writes ? ENOSPC : EIO);
}

static int transfer_sync(struct context *c, struct transfer *t, int file, uint64_t *check)
{
	for (uint64_t i = 0; i < t->blocks; i++) {
		off_t offset = (off_t)(block_number(t, i) * t->block);
		fill_stamp(t, t->buffers, i);
		ssize_t result = t->writes ? pwrite(file, t->buffers, t->block, offset) : pread(file, t->buffers, t->block, offset);
		if (result != (ssize_t)t->block)
			return report_short(c, t, result, errno);
		*check += read_stamp(t->buffers);
	}
	return 0;
}

static int transfer_async(struct context *c, struct transfer *t, int file, uint64_t *check)
{
	unsigned free_slot[MAX_QUEUE_DEPTH], free_slots = t->depth, slot;
	uint64_t next = 0, done = 0;
	int result;
	for (unsigned i = 0; i < free_slots; i++)
		free_slot[i] = i;
	while (done < t->blocks) {
		unsigned added = 0;
		for (; free_slots > 0 && next < t->blocks; next++, added++) {
			slot = free_slot[--free_slots];
			char *buffer = t->buffers + slot * t->block;
			fill_stamp(t, buffer, next);
			ring_add(&t->ring, t->writes ? IORING_OP_WRITE : IORING_OP_READ, file, buffer, (unsigned)t->block,
				 block_number(t, next) * t->block, slot);
		}
		if (ring_enter(&t->ring, added) != 0) {
			failed(c, "io_uring_enter");
			return -1;
		}
		for (; ring_next(&t->ring, &slot, &result); done++) {
			if (result != (int)t->block)
				return report_short(c, t, result, -result);
			*check += read_stamp(t->buffers + slot * t->block);
			free_slot[free_slots++] = slot;
		}
	}
	return 0;
}

/* Transfers all blocks, and sums their stamps. Returns 0, or -1 on failure. */
static inline int transfer(struct context *c, struct transfer *t, int file, uint64_t *check)
{
	return t->depth == 0 ? transfer_sync(c, t, file, check) : transfer_async(c, t, file, check);
}

static inline uint64_t transfer_sum(const struct transfer *t)
{
	uint64_t sum = 0;
	for (uint64_t i = 0; i < t->blocks; i++)
		sum += stamp(block_number(t, i), t->generation);
	return sum;
}

static inline uint64_t count_correct_blocks(struct context *c, struct transfer *t, int file)
{
	char *expected = t->buffers, *found = t->buffers + t->block;
	uint64_t correct = 0;
	for (uint64_t i = 0; i < t->blocks; i++) {
		fill_stamp(t, expected, i);
		if (pread(file, found, t->block, (off_t)(i * t->block)) != (ssize_t)t->block) {
			failed(c, "pread");
			return correct;
		}
		correct += memcmp(found, expected, t->block) == 0;
	}
	memset(found, 'a', t->block); /* restore the fill pattern */
	return correct;
}

#endif
