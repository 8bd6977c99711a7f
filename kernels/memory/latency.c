/* memory/latency/...: load latency of dependent loads, by working-set size.
 *
 * One operation is one load of a pointer from the line that the previous load addressed (pointer chasing). The lines of the working set
 * (bytes=, or caches= times the last-level cache) form one cycle in random order, over all pages, which defeats prefetchers. Beyond the
 * reach of the TLB, latency includes page walks. Pages are small on every machine; pages=huge selects huge pages where available
 * (vm/random-load/...). Of an even number of lines the last is left out: loads in number a power of two, as calibration chooses it, end
 * where they began in a cycle of such a length, as do half of them or none. The walk continues where the previous region ended, so that
 * short regions cover a large set too.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "../runtime/draw.h"
#include "../runtime/kernel.h"
#include "../vm/huge.h"
#include "caches.h"
#include "populate.h"

#define LINE 64 /* bytes between pointers; also works with cache lines of 128 */
#define UNROLL 8
#define SEED 1996

static char *base;
static uint32_t *order; /* lines in visiting order, for expect() */
static uint64_t lines, position, start;

static uint64_t parse_working_set(struct context *c)
{
	uint64_t times = parameter_u64(c, "caches", 0);
	if (times == 0)
		return parameter_u64(c, "bytes", 0);
	uint64_t cache = last_cache(sched_getcpu());
	if (cache == 0)
		skip(c, "the cache sizes of this CPU are unknown");
	note(c, "last_cache_bytes", "%lu", (unsigned long)cache);
	return times * cache;
}

/* Returns NULL on failure, or without huge pages. */
static char *map_pages(struct context *c, uint64_t bytes)
{
	if (strcmp(parameter(c, "pages", "small"), "huge") == 0) {
		uint64_t page = huge_page_size(c);
		if (page == 0)
			return NULL;
		if (bytes < page) {
			skip(c, "a working set of %lu MB is smaller than a huge page of %lu MB", (unsigned long)(bytes >> 20),
			     (unsigned long)(page >> 20));
			return NULL;
		}
		char *memory = huge_memory(c, bytes, page);
		if (memory != NULL)
			memset(memory, 0, bytes);
		if (memory != NULL && huge_bytes() < bytes / page * page)
			skip(c, "of %lu MB in huge pages only %lu were allocated: memory is fragmented; as root: echo 1 > /proc/sys/vm/compact_memory",
			     (unsigned long)(bytes >> 20), (unsigned long)(huge_bytes() >> 20));
		return memory;
	}
	char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED) {
		failed(c, "mmap");
		return NULL;
	}
	madvise(memory, bytes, MADV_NOHUGEPAGE); /* EINVAL without huge pages */
	populate(memory, bytes);
	return memory;
}

static void setup(struct context *c)
{
	uint64_t bytes = parse_working_set(c);
	lines = bytes / LINE;
	if (bytes == 0)
		wrong_arguments(c, "bytes= or caches= is missing");
	if (bytes % LINE != 0 || lines < UNROLL || lines > UINT32_MAX)
		wrong_arguments(c, "bytes=%lu is not a working set: at least %d, and a multiple of %d",
				(unsigned long)bytes, UNROLL * LINE, LINE);
	if (bytes > memory_available() / 2) {
		skip(c, "a working set of %lu MB is more than half of the free memory", (unsigned long)(bytes >> 20));
		return;
	}
	note(c, "working_set_bytes", "%lu", (unsigned long)bytes);
	lines -= lines % 2 == 0;
	order = malloc(lines * sizeof *order);
	base = map_pages(c, bytes);
	if (order == NULL)
		failed(c, "malloc");
	if (order == NULL || base == NULL)
		return;
	uint64_t state = SEED;
	for (uint64_t i = 0; i < lines; i++) {
		uint64_t j = draw(&state) % (i + 1);
		order[i] = order[j];
		order[j] = (uint32_t)i;
	}
	for (uint64_t i = 0; i < lines; i++)
		*(void **)(base + (uint64_t)order[i] * LINE) = base + (uint64_t)order[i + 1 < lines ? i + 1 : 0] * LINE;
}

static void prepare(struct context *c, uint64_t n)
{
	(void)c;
	start = position;
	position = (position + n) % lines;
}

static void run(struct context *c, uint64_t n, uint64_t *check)
{
	void **p = (void **)(base + (uint64_t)order[start] * LINE);
	(void)c;
	for (uint64_t i = n / UNROLL; i > 0; i--) {
		p = *p;
		p = *p;
		p = *p;
		p = *p;
		p = *p;
		p = *p;
		p = *p;
		p = *p;
		OPAQUE(p);
	}
	for (uint64_t i = n % UNROLL; i > 0; i--) {
		p = *p;
		OPAQUE(p);
	}
	*check = (uint64_t)((char *)p - base) / LINE;
}

/* By the order, independent of the pointers. */
static uint64_t expect(struct context *c, uint64_t n)
{
	(void)c;
	return order[(start + n) % lines];
}

const struct kernel kernel = {
	.name = "memory/latency",
	.setup = setup,
	.prepare = prepare,
	.run = run,
	.expect = expect,
};
