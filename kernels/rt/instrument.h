/* A device of infinite speed whose driver does not buffer: a process that takes what is written as soon as it is there, and reports that it has
 * it. The writer sleeps until then, as in a driver that starts a transfer, sleeps, and is woken by the interrupt of its completion.
 *
 * Needs _GNU_SOURCE. Stands without the runtime, for load/writer too.
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
	uint64_t sum;              /* of all bytes taken */
};

/* Shared with the children to come; MAP_FAILED with errno. */
static inline struct instrument *make_instrument(void)
{
	return mmap(NULL, sizeof(struct instrument), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
}

/* The device: takes requests of this size until nothing can be read. */
static inline void take_requests(struct instrument *i, int far, size_t size)
{
	unsigned char bytes[512];
	ssize_t took;
	for (size_t taken = 0; (took = read(far, bytes, size - taken)) > 0; taken %= size) {
		for (ssize_t b = 0; b < took; b++)
			i->sum += bytes[b];
		taken += (size_t)took;
		if (taken < size)
			continue;
		atomic_fetch_add(&i->requests, 1);
		futex_wake_all(&i->requests);
	}
}

/* Sleeps until more requests are completed than were; one entry into the kernel, even where it is so already. */
static inline void await_completion(struct instrument *i, uint32_t before)
{
	do
		futex_wait(&i->requests, before);
	while (atomic_load(&i->requests) == before);
}

#endif
