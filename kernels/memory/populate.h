/* Pages before their first use. */
#ifndef GRITSTONE_MEMORY_POPULATE_H
#define GRITSTONE_MEMORY_POPULATE_H

#include <stdint.h>
#include <sys/mman.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* glibc before 2.35 */
#endif

/* In order, by one system call. Linux before 5.14 refuses it, and faults on each page at its first use: 1.9 GiB in random order take
 * 4.5 s in place of 2.8. */
static inline void populate(void *memory, uint64_t bytes)
{
	madvise(memory, bytes, MADV_POPULATE_WRITE);
}

#endif
