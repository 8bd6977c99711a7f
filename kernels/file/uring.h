/* io_uring by direct system calls: submission and completion ring in shared memory. Single-threaded; each submission waits for all its
 * completions (io_uring(7)). */
#ifndef GRITSTONE_FILE_URING_H
#define GRITSTONE_FILE_URING_H

#include <errno.h>
#include <linux/io_uring.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../runtime/kernel.h"

static struct uring {
	int descriptor;
	uint32_t requests, completions; /* index masks: ring size - 1 */
	_Atomic uint32_t *request_tail, *head, *tail; /* tail of the submission ring; head and tail of the completion ring */
	struct io_uring_sqe *request;
	struct io_uring_cqe *completion;
} uring;

static inline int setup_uring(struct context *c, uint32_t size)
{
	struct io_uring_params p = {0};
	uring.descriptor = (int)syscall(SYS_io_uring_setup, size, &p);
	if (uring.descriptor >= 0 && !(p.features & IORING_FEAT_RW_CUR_POS)) {
		close(uring.descriptor); /* this feature and IORING_OP_READ came with Linux 5.6 */
		uring.descriptor = -1;
		errno = ENOSYS;
	}
	if (uring.descriptor < 0 && (errno == ENOSYS || errno == EPERM || errno == EACCES)) {
		skip(c, "io_uring is not available (%s): it takes Linux 5.6, no seccomp filter (as in containers), and `sysctl kernel.io_uring_disabled=0`.",
		     strerror(errno));
		return 0;
	}
	if (uring.descriptor < 0) {
		failed(c, "io_uring_setup");
		return 0;
	}
	const int protection = PROT_READ | PROT_WRITE, shared = MAP_SHARED | MAP_POPULATE;
	char *requests = mmap(NULL, p.sq_off.array + p.sq_entries * sizeof(uint32_t), protection, shared, uring.descriptor, IORING_OFF_SQ_RING);
	char *completions = mmap(NULL, p.cq_off.cqes + p.cq_entries * sizeof(struct io_uring_cqe), protection, shared, uring.descriptor,
				 IORING_OFF_CQ_RING);
	void *entries = mmap(NULL, p.sq_entries * sizeof(struct io_uring_sqe), protection, shared, uring.descriptor, IORING_OFF_SQES);
	if (requests == MAP_FAILED || completions == MAP_FAILED || entries == MAP_FAILED) {
		failed(c, "mmap");
		return 0;
	}
	uring.requests = p.sq_entries - 1;
	uring.completions = p.cq_entries - 1;
	uring.request_tail = (_Atomic uint32_t *)(void *)(requests + p.sq_off.tail);
	uring.head = (_Atomic uint32_t *)(void *)(completions + p.cq_off.head);
	uring.tail = (_Atomic uint32_t *)(void *)(completions + p.cq_off.tail);
	uring.completion = (struct io_uring_cqe *)(void *)(completions + p.cq_off.cqes);
	uring.request = entries;
	for (uint32_t i = 0; i < p.sq_entries; i++) /* identity mapping, constant */
		((uint32_t *)(void *)(requests + p.sq_off.array))[i] = i;
	return p.sq_entries == size;
}

/* The i-th entry of the next submission. */
static inline struct io_uring_sqe *next_request(uint32_t i)
{
	return &uring.request[(atomic_load_explicit(uring.request_tail, memory_order_relaxed) + i) & uring.requests];
}

/* Returns when all requests are complete. */
static inline int submit_and_wait(uint32_t count)
{
	uint32_t tail = atomic_load_explicit(uring.request_tail, memory_order_relaxed);
	atomic_store_explicit(uring.request_tail, tail + count, memory_order_release);
	return syscall(SYS_io_uring_enter, uring.descriptor, count, count, IORING_ENTER_GETEVENTS, NULL, 0) == (long)count;
}

/* Returns NULL without a completion. It is valid until the next submission. */
static inline const struct io_uring_cqe *next_completion(void)
{
	uint32_t head = atomic_load_explicit(uring.head, memory_order_relaxed);
	if (head == atomic_load_explicit(uring.tail, memory_order_acquire))
		return NULL;
	atomic_store_explicit(uring.head, head + 1, memory_order_release);
	return &uring.completion[head & uring.completions];
}

#endif
