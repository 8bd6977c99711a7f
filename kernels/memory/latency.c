/* memory/latency/...: how long a load takes that must wait for the one before it, by the size of what is read.
 *
 * One operation is one load of an address from the line that the last load named. The lines of the working set (bytes=, or
 * caches= times the last cache) lie on one cycle in random order, over all pages, so that no prefetcher can guess the next. Beyond
 * the reach of the TLB, finding the page is part of it. Pages are small ones on every machine; with pages=huge they are huge ones on
 * every machine that has them (vm/random-load/...). The walk goes on where the last region ended, so that a short region does not
 * stay within a small part of a large set.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "../runtime/draw.h"
#include "../runtime/kernel.h"
#include "../vm/huge.h"
#include "caches.h"

#define LINE 64 /* bytes between two addresses; lines of 128 are in order with half of them */
#define UNROLL 8
#define SEED 1996

static char *set;
static uint32_t *order; /* the lines as they are visited: what the walk is compared with */
static uint64_t lines, at, begun_at;

static uint64_t working_set(struct context *c)
{
	uint64_t times = parameter_u64(c, "caches", 0);
	if (times == 0)
		return parameter_u64(c, "bytes", 0);
	uint64_t cache = last_cache(sched_getcpu());
	if (cache == 0)
		skip(c, "the system does not say how large the caches of this CPU are");
	note(c, "last_cache_bytes", "%lu", (unsigned long)cache);
	return times * cache;
}

/* Small pages, or huge ones that were really given. NULL after a failure, or where there are none. */
static char *pages(struct context *c, uint64_t bytes)
{
	if (strcmp(parameter(c, "pages", "small"), "huge") == 0) {
		uint64_t page = huge_page(c);
		if (page == 0)
			return NULL;
		char *memory = huge_memory(c, bytes, page);
		if (memory != NULL)
			memset(memory, 0, bytes);
		if (memory != NULL && huge_bytes() < bytes / page * page)
			skip(c, "of %lu MB in huge pages only %lu were given: memory is in pieces; as root: echo 1 > /proc/sys/vm/compact_memory",
			     (unsigned long)(bytes >> 20), (unsigned long)(huge_bytes() >> 20));
		return memory;
	}
	char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED) {
		failed(c, "mmap");
		return NULL;
	}
	madvise(memory, bytes, MADV_NOHUGEPAGE); /* refused where there are no large ones */
	return memory;
}

static void setup(struct context *c)
{
	uint64_t bytes = working_set(c);
	lines = bytes / LINE;
	if (bytes == 0)
		wrong_arguments(c, "neither bytes= nor caches= is there");
	if (bytes % LINE != 0 || lines < UNROLL || lines > UINT32_MAX)
		wrong_arguments(c, "bytes=%lu is no working set: at least %d, and whole lines of %d",
				(unsigned long)bytes, UNROLL * LINE, LINE);
	if (bytes > memory_available() / 2) {
		skip(c, "a working set of %lu MB is more than half of the memory that is free", (unsigned long)(bytes >> 20));
		return;
	}
	note(c, "working_set_bytes", "%lu", (unsigned long)bytes);
	order = malloc(lines * sizeof *order);
	set = pages(c, bytes);
	if (order == NULL)
		failed(c, "malloc");
	if (order == NULL || set == NULL)
		return;
	uint64_t state = SEED;
	for (uint64_t i = 0; i < lines; i++) {
		uint64_t j = draw(&state) % (i + 1);
		order[i] = order[j];
		order[j] = (uint32_t)i;
	}
	for (uint64_t i = 0; i < lines; i++)
		*(void **)(set + (uint64_t)order[i] * LINE) = set + (uint64_t)order[i + 1 < lines ? i + 1 : 0] * LINE;
}

static void prepare(struct context *c, uint64_t n)
{
	(void)c;
	begun_at = at;
	at = (at + n) % lines;
}

static void run(struct context *c, uint64_t n, uint64_t *check)
{
	void **p = (void **)(set + (uint64_t)order[begun_at] * LINE);
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
	*check = (uint64_t)((char *)p - set) / LINE;
}

/* By counting along the order, without a look at the chain. */
static uint64_t expect(struct context *c, uint64_t n)
{
	(void)c;
	return order[(begun_at + n) % lines];
}

const struct kernel kernel = {
	.name = "memory/latency",
	.setup = setup,
	.prepare = prepare,
	.run = run,
	.expect = expect,
};
