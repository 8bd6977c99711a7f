/* vm/paging/...: pages of a region larger than the memory allowed, touched in one pattern or another (login-1982, tables I to III).
 *
 * One operation is touches= touches of a region of pages= pages (touches.h) by a process that a control group limits to memory_pages=.
 * The region is new memory that belongs to no file, as that of the programs behind the tables was: the first touch of a page gets it zeroed, and
 * each touch writes, so that a page goes to swap whenever another needs its place. A touch writes its number to one of two words of
 * its page, and reads from the other the number of the touch before it there. So what comes back from swap is checked.
 * advice=sequential or random tells the kernel first, as vadvise did.
 *
 * region=file: the region is a mapped file, none of it in memory at first, and each touch reads (region.h).
 */
#define _GNU_SOURCE
#include <errno.h>

#include "region.h"
#include "swapped.h"

#define SECOND (1u << 31) /* in touch: which of the two words is written */

static int of_file, advice;
static uint64_t wanted_check;

static uint64_t join(uint64_t sum, uint64_t word)
{
	return (sum << 1 | sum >> 63) + word; /* the order counts too */
}

static void learn_check(struct context *c)
{
	uint32_t *last = calloc(pages, sizeof *last); /* number of the last touch of a page, with the word that it wrote */
	if (last == NULL) {
		failed(c, "calloc");
		return;
	}
	for (uint32_t t = 0; t < touches; t++) {
		uint32_t page = touch[t], before = last[page];
		wanted_check = join(wanted_check, of_file ? number(page) : before & ~SECOND);
		if (of_file)
			continue;
		last[page] = (t + 1) | (~before & SECOND);
		touch[t] |= last[page] & SECOND;
	}
	free(last);
}

static void parse_advice(struct context *c)
{
	const char *said = parameter(c, "advice", "none");
	advice = strcmp(said, "sequential") == 0 ? MADV_SEQUENTIAL : MADV_NORMAL;
	if (strcmp(said, "random") == 0)
		advice = MADV_RANDOM;
	else if (advice == MADV_NORMAL && strcmp(said, "none") != 0)
		wrong_arguments(c, "advice=%s is none of none, sequential and random", said);
}

/* Memory that is zeroed when it is touched, in single pages, since huge ones would come and go whole. */
static void map_memory(struct context *c)
{
	size_t bytes = pages * page_size;
	if (!must_swap(c))
		return;
	region = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (region == MAP_FAILED)
		failed(c, "mmap");
	else if ((madvise(region, bytes, MADV_NOHUGEPAGE) != 0 && errno != EINVAL) || madvise(region, bytes, advice) != 0)
		failed(c, "madvise");
}

static void setup(struct context *c)
{
	of_file = strcmp(parameter(c, "region", "memory"), "file") == 0;
	confined = strcmp(parameter(c, "confined", "no"), "yes") == 0;
	page_size = (size_t)sysconf(_SC_PAGESIZE);
	allowed = parameter_u64(c, "memory_pages", 0);
	draw_touches(c);
	if (touch == NULL)
		return;
	if (allowed == 0 || pages <= allowed)
		wrong_arguments(c, "memory_pages= must be above 0, and less than pages=");
	parse_advice(c);
	learn_check(c);
	if (of_file)
		map_file(c, advice);
	else
		map_memory(c);
}

static void prepare(struct context *c, uint64_t n)
{
	(void)n;
	if (!of_file)
		swap_begins(c);
}

static uint64_t read_pages(struct context *c)
{
	uint64_t sum = 0;
	throw_out(c);
	for (uint64_t t = 0; t < touches; t++) {
		if (!confined)
			allow(c, touch[t]);
		sum = join(sum, *(volatile uint64_t *)(void *)(region + touch[t] * page_size));
	}
	return sum;
}

static uint64_t write_pages(struct context *c)
{
	uint64_t sum = 0;
	if (madvise(region, pages * page_size, MADV_DONTNEED) != 0) /* new memory */
		failed(c, "madvise");
	for (uint64_t t = 0; t < touches; t++) {
		volatile uint64_t *words = (volatile uint64_t *)(void *)(region + (touch[t] & ~SECOND) * page_size);
		uint32_t written = touch[t] / SECOND;
		words[written] = t + 1;
		sum = join(sum, words[!written]);
	}
	return sum;
}

static void run(struct context *c, uint64_t n, uint64_t *check)
{
	for (uint64_t i = 0; i < n; i++)
		*check += of_file ? read_pages(c) : write_pages(c);
}

static void finish(struct context *c, uint64_t n, uint64_t *check)
{
	(void)check;
	if (!of_file)
		swap_ends(c, n);
}

static uint64_t expect(struct context *c, uint64_t n)
{
	(void)c;
	return n * wanted_check;
}

static void teardown(struct context *c)
{
	if (!of_file)
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
