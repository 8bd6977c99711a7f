/* vm/paging/...: page accesses in a region larger than the permitted memory, in several patterns (login-1982, tables I to III).
 *
 * One operation is touches= accesses in a region of pages= pages (touches.h) by a process limited to memory_pages= by a control group. The
 * region is new anonymous memory, as in the programs behind the tables: the first touch of a page zeroes it, and each touch writes, so that
 * evicted pages go to swap. A touch writes its number to one of two words of its page, and reads from the other the number of that page's
 * previous touch, which verifies what returns from swap. advice=sequential or random calls madvise(2), as vadvise did.
 *
 * region=file: the region is a mapped file, initially not in memory, and each touch reads (region.h).
 */
#define _GNU_SOURCE
#include <errno.h>

#include "region.h"
#include "swapped.h"

#define SECOND_WORD (1u << 31) /* flag in touch[]: the touch writes the second word */

static int from_file, advice;
static uint64_t expected_check;

static uint64_t mix(uint64_t sum, uint64_t word)
{
	return (sum << 1 | sum >> 63) + word; /* order-dependent */
}

static void compute_check(struct context *c)
{
	uint32_t *last = calloc(pages, sizeof *last); /* last touch of each page, with its SECOND_WORD flag */
	if (last == NULL) {
		failed(c, "calloc");
		return;
	}
	for (uint32_t t = 0; t < touches; t++) {
		uint32_t page = touch[t], before = last[page];
		expected_check = mix(expected_check, from_file ? page_content(page) : before & ~SECOND_WORD);
		if (from_file)
			continue;
		last[page] = (t + 1) | (~before & SECOND_WORD);
		touch[t] |= last[page] & SECOND_WORD;
	}
	free(last);
}

static void parse_advice(struct context *c)
{
	const char *name = parameter(c, "advice", "none");
	advice = strcmp(name, "sequential") == 0 ? MADV_SEQUENTIAL : MADV_NORMAL;
	if (strcmp(name, "random") == 0)
		advice = MADV_RANDOM;
	else if (advice == MADV_NORMAL && strcmp(name, "none") != 0)
		wrong_arguments(c, "advice=%s is not none, sequential or random", name);
}

/* Anonymous memory in small pages, since huge pages are swapped as a whole. */
static void map_memory(struct context *c)
{
	size_t bytes = pages * page_size;
	if (!require_swap(c))
		return;
	region = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (region == MAP_FAILED)
		failed(c, "mmap");
	else if ((madvise(region, bytes, MADV_NOHUGEPAGE) != 0 && errno != EINVAL) || madvise(region, bytes, advice) != 0)
		failed(c, "madvise");
}

static void setup(struct context *c)
{
	from_file = strcmp(parameter(c, "region", "memory"), "file") == 0;
	confined = strcmp(parameter(c, "confined", "no"), "yes") == 0;
	page_size = (size_t)sysconf(_SC_PAGESIZE);
	memory_pages = parameter_u64(c, "memory_pages", 0);
	draw_touches(c);
	if (touch == NULL)
		return;
	if (memory_pages == 0 || pages <= memory_pages)
		wrong_arguments(c, "memory_pages= must be above 0, and less than pages=");
	parse_advice(c);
	compute_check(c);
	if (from_file)
		map_file(c, advice);
	else
		map_memory(c);
}

static void prepare(struct context *c, uint64_t n)
{
	(void)n;
	if (!from_file)
		begin_swap_count(c);
}

static uint64_t read_pages(struct context *c)
{
	uint64_t sum = 0;
	drop_region(c);
	for (uint64_t t = 0; t < touches; t++) {
		if (!confined)
			emulate_limit(c, touch[t]);
		sum = mix(sum, *(volatile uint64_t *)(void *)(region + touch[t] * page_size));
	}
	return sum;
}

static uint64_t write_pages(struct context *c)
{
	uint64_t sum = 0;
	if (madvise(region, pages * page_size, MADV_DONTNEED) != 0) /* new memory */
		failed(c, "madvise");
	for (uint64_t t = 0; t < touches; t++) {
		volatile uint64_t *words = (volatile uint64_t *)(void *)(region + (touch[t] & ~SECOND_WORD) * page_size);
		uint32_t written = touch[t] / SECOND_WORD;
		words[written] = t + 1;
		sum = mix(sum, words[!written]);
	}
	return sum;
}

static void run(struct context *c, uint64_t n, uint64_t *check)
{
	for (uint64_t i = 0; i < n; i++)
		*check += from_file ? read_pages(c) : write_pages(c);
}

static void finish(struct context *c, uint64_t n, uint64_t *check)
{
	(void)check;
	if (!from_file)
		end_swap_count(c, n);
}

static uint64_t expect(struct context *c, uint64_t n)
{
	(void)c;
	return n * expected_check;
}

static void teardown(struct context *c)
{
	if (!from_file)
		note_swapped(c);
	else if (unlink(NAME) != 0)
		failed(c, "unlink");
}

const struct kernel kernel = {
	.name = "vm/paging",
	.setup = setup,
	.prepare = prepare,
	.run = run,
	.finish = finish,
	.expect = expect,
	.teardown = teardown,
	.single = 1,
};
