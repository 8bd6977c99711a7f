/* An unbuffered device of infinite speed: a process that reads each request at once and reports its completion. The writer sleeps until
 * then, as in a driver that starts a transfer and sleeps until the completion interrupt.
 *
 * Needs _GNU_SOURCE. Independent of the runtime, since load/writer uses it too.
 */
#ifndef GRITSTONE_RT_INSTRUMENT_H
#define GRITSTONE_RT_INSTRUMENT_H

#include <limits.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../runtime/futex.h"

struct instrument {
	_Atomic uint32_t requests; /* completed */
	uint64_t sum; /* of all received bytes */
};

/* Shared with later children. Returns MAP_FAILED with errno. */
static inline struct instrument *create_instrument(void)
{
	return mmap(NULL, sizeof(struct instrument), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
}

/* The device process: reads requests of a fixed size until end of file. */
static inline void serve_requests(struct instrument *i, int fd, size_t size)
{
	unsigned char bytes[512];
	ssize_t n;
	for (size_t received = 0; (n = read(fd, bytes, size - received)) > 0; received %= size) {
		for (ssize_t b = 0; b < n; b++)
			i->sum += bytes[b];
		received += (size_t)n;
		if (received < size)
			continue;
		atomic_fetch_add(&i->requests, 1);
		futex_wake_all(&i->requests);
	}
}

/* Sleeps until the completion count exceeds `before`; one system call even if it does already. */
static inline void await_completion(struct instrument *i, uint32_t before)
{
	do
		futex_wait(&i->requests, before);
	while (atomic_load(&i->requests) == before);
}

#endif
