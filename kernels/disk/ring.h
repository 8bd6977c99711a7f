/* io_uring by direct system calls: one ring, operations of one size, several in flight. */
#ifndef GRITSTONE_DISK_RING_H
#define GRITSTONE_DISK_RING_H

#include <linux/io_uring.h>
#include <sys/syscall.h>

#include "../fs/files.h"

struct ring {
	int fd;
	unsigned *sq_tail, *sq_mask, *sq_array, *cq_head, *cq_tail, *cq_mask;
	struct io_uring_sqe *entries;
	struct io_uring_cqe *results;
};

static inline void *ring_part(const struct ring *r, size_t bytes, off_t which)
{
	return mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, r->fd, which);
}

/* From setup. Skips if the kernel is too old, or a sysctl or filter disables io_uring. */
static inline void ring_open(struct context *c, struct ring *r, unsigned depth)
{
	struct io_uring_params p;
	memset(&p, 0, sizeof p);
	r->fd = (int)syscall(SYS_io_uring_setup, depth, &p);
	if (r->fd >= 0 && !(p.features & IORING_FEAT_RW_CUR_POS)) {
		close(r->fd); /* this feature, IORING_OP_READ and IORING_OP_WRITE came with Linux 5.6 */
		r->fd = -1;
		errno = ENOSYS;
	}
	if (r->fd < 0) {
		skip(c, "io_uring is not available (%s): it takes Linux 5.6, no seccomp filter (as in containers), and `sysctl kernel.io_uring_disabled=0`.",
		     strerror(errno));
		return;
	}
	char *sq = ring_part(r, p.sq_off.array + p.sq_entries * sizeof *r->sq_array, IORING_OFF_SQ_RING);
	char *cq = ring_part(r, p.cq_off.cqes + p.cq_entries * sizeof *r->results, IORING_OFF_CQ_RING);
	r->entries = ring_part(r, p.sq_entries * sizeof *r->entries, IORING_OFF_SQES);
	if (sq == MAP_FAILED || cq == MAP_FAILED || r->entries == MAP_FAILED) {
		failed(c, "mmap");
		return;
	}
	r->sq_tail = (unsigned *)(sq + p.sq_off.tail);
	r->sq_mask = (unsigned *)(sq + p.sq_off.ring_mask);
	r->sq_array = (unsigned *)(sq + p.sq_off.array);
	r->cq_head = (unsigned *)(cq + p.cq_off.head);
	r->cq_tail = (unsigned *)(cq + p.cq_off.tail);
	r->cq_mask = (unsigned *)(cq + p.cq_off.ring_mask);
	r->results = (struct io_uring_cqe *)(cq + p.cq_off.cqes);
}

/* Queues an operation for the next ring_enter(); `slot` is returned with its completion. */
static inline void ring_add(struct ring *r, int opcode, int file, void *buffer, unsigned bytes, uint64_t offset, unsigned slot)
{
	unsigned tail = *r->sq_tail, index = tail & *r->sq_mask;
	struct io_uring_sqe *e = &r->entries[index];
	memset(e, 0, sizeof *e);
	e->opcode = (unsigned char)opcode;
	e->fd = file;
	e->addr = (uint64_t)(uintptr_t)buffer;
	e->len = bytes;
	e->off = offset;
	e->user_data = slot;
	r->sq_array[index] = index;
	__atomic_store_n(r->sq_tail, tail + 1, __ATOMIC_RELEASE);
}

/* Submits the queued operations, and waits for at least one completion. Returns 0, or -1 with errno. */
static inline int ring_enter(struct ring *r, unsigned added)
{
	for (;;) {
		long submitted = syscall(SYS_io_uring_enter, r->fd, added, 1, IORING_ENTER_GETEVENTS, NULL, 0);
		if (submitted >= (long)added)
			return 0;
		if (submitted < 0 && errno != EINTR)
			return -1;
		added -= submitted > 0 ? (unsigned)submitted : 0;
	}
}

/* Reaps a completion: its slot, and the number of bytes or a negative errno. Returns 0 if there is none. */
static inline int ring_next(struct ring *r, unsigned *slot, int *result)
{
	unsigned head = *r->cq_head;
	if (head == __atomic_load_n(r->cq_tail, __ATOMIC_ACQUIRE))
		return 0;
	*slot = (unsigned)r->results[head & *r->cq_mask].user_data;
	*result = r->results[head & *r->cq_mask].res;
	__atomic_store_n(r->cq_head, head + 1, __ATOMIC_RELEASE);
	return 1;
}

#endif
