/* vm/paging/...: pages of a region larger than the memory allowed, touched in one pattern or another (login-1982, tables I to III).
 * swap=yes: the region is nobody's file, so that its pages go to swap and come from there; what the allowance holds of it may
 * then be in memory when an operation begins.
 *
 * One operation starts with none of the region in memory, and reads one word on each of touches= pages, of which some come
 * more than once. The region is a mapped file of pages= pages, each with a number of its own. pattern=sequential touches one
 * page after the other from the first; random draws pages uniformly; gaussian draws them about the center of the region,
 * deviation= percent of the pages allowed (memory_pages=). advice=sequential or random tells the kernel first, as vadvise did.
 *
 * confined=yes: a control group holds the process to its allowance. Otherwise the program does so itself: when it has touched as
 * many different pages as it is allowed, all of them are thrown out. That is another policy, and the figure says so.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "../runtime/draw.h"
#include "../runtime/kernel.h"

#define NAME "region"
#define MOST (1 << 20)
#define SEED 1982
#define UNIFORMS 12 /* the sum of 12 uniform numbers has variance 1 and is nearly normal */

static int file = -1, confined, anonymous, advice;
static size_t page_size;
static uint64_t allowed, pages, touches;
static char *region;
static uint32_t *touch; /* the pages, in the order in which they are touched */
static unsigned char *seen; /* stand-in: pages that were touched since all were thrown out */
static uint64_t seen_count;
static uint64_t wanted_check;

/* What stands on a page. */
static uint64_t number(uint64_t page)
{
	return (page + 1) * 0x9e3779b97f4a7c15u;
}

/* In whole numbers, so that every machine draws the same pages; what falls outside the region is drawn again. */
static uint32_t gaussian(uint64_t *state, uint64_t deviation)
{
	for (;;) {
		int64_t sum = -UNIFORMS / 2 * 65536;
		for (int i = 0; i < UNIFORMS; i++)
			sum += (int64_t)(draw(state) >> 48);
		int64_t page = (int64_t)(pages / 2) + sum * (int64_t)deviation / 65536;
		if (page >= 0 && page < (int64_t)pages)
			return (uint32_t)page;
	}
}

/* Root of a whole number, rounded down. */
static uint64_t root(uint64_t x)
{
	return (uint64_t)sqrt((double)x);
}

/* Shows that the pages drawn are spread as they should be, and says how. Five standard errors are allowed: sampled
 * deviations scatter by 1/sqrt(2 T) for normal draws, less for uniform ones. */
static void verify_draws(struct context *c, uint64_t deviation)
{
	uint64_t sum = 0, squares = 0, distinct = 0;
	unsigned char *drawn = calloc(1, pages);
	if (drawn == NULL) {
		failed(c, "calloc");
		return;
	}
	for (uint64_t i = 0; i < touches; i++) {
		distinct += !drawn[touch[i]];
		drawn[touch[i]] = 1;
		sum += touch[i];
	}
	free(drawn);
	uint64_t mean = sum / touches;
	for (uint64_t i = 0; i < touches; i++)
		squares += (touch[i] - mean) * (touch[i] - mean); /* modulo 2^64, so that the sign does not matter */
	uint64_t found = root(squares / touches), center = pages / 2;
	uint64_t off = mean > center ? mean - center : center - mean;
	uint64_t apart = found > deviation ? found - deviation : deviation - found;
	note(c, "pages_touched", "%u different ones in %u touches", (unsigned)distinct, (unsigned)touches);
	note(c, "pages_drawn", "mean %u, standard deviation %u of %u pages", (unsigned)mean, (unsigned)found,
	     (unsigned)pages);
	if (off > 5 * deviation / root(touches) + 1 || apart > 5 * deviation / root(2 * touches) + 1)
		failed_because(c, "draw", "the pages drawn have mean %u and standard deviation %u; %u and %u were wanted",
			       (unsigned)mean, (unsigned)found, (unsigned)center, (unsigned)deviation);
}

static void draw_pages(struct context *c)
{
	const char *pattern = parameter(c, "pattern", "");
	uint64_t deviation = parameter_u64(c, "deviation", 0) * allowed / 100, state = SEED;
	if (strcmp(pattern, "sequential") == 0) {
		for (uint32_t i = 0; i < touches; i++)
			touch[i] = i % (uint32_t)pages;
	} else if (strcmp(pattern, "random") == 0) {
		for (uint64_t i = 0; i < touches; i++)
			touch[i] = (uint32_t)(draw(&state) % pages);
		verify_draws(c, root(pages * pages / 12)); /* of a uniform distribution */
	} else if (strcmp(pattern, "gaussian") == 0 && deviation > 0) {
		for (uint64_t i = 0; i < touches; i++)
			touch[i] = gaussian(&state, deviation);
		verify_draws(c, deviation);
	} else {
		wrong_arguments(c, "pattern=%s is none of sequential, random, and gaussian with deviation=",
			       pattern);
	}
	for (uint64_t i = 0; i < touches; i++)
		wanted_check = (wanted_check << 1 | wanted_check >> 63) + number(touch[i]);
}

/* The region on the disk, and nothing of it dirty: a dirty page could not be thrown out. */
static void write_region(struct context *c)
{
	uint64_t *page = calloc(1, page_size);
	file = open(NAME, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (page == NULL || file < 0) {
		failed(c, page == NULL ? "calloc" : "open");
		return;
	}
	for (uint64_t i = 0; i < pages && page != NULL; i++) {
		page[0] = number(i);
		if (write(file, page, page_size) != (ssize_t)page_size) {
			failed(c, "write");
			break;
		}
		/* little at a time, since what is not on the disk yet counts as ours */
		if (i % 256 == 255 && fdatasync(file) != 0)
			failed(c, "fdatasync");
	}
	free(page);
	if (fsync(file) != 0)
		failed(c, "fsync");
}

static void throw_out(struct context *c)
{
	if (anonymous)
		return; /* what is told to go to swap stays in its cache, up to the allowance: so it does without being told */
	if (madvise(region, pages * page_size, MADV_DONTNEED) != 0)
		failed(c, "madvise");
	/* 0: all of the file; an error is returned, not left in errno */
	if (posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED) != 0)
		failed_because(c, "posix_fadvise", "pages of a file cannot be thrown out here");
	if (!confined)
		memset(seen, 0, pages);
	seen_count = 0;
}

/* Some file systems are memory, and keep their pages. */
static void must_page(struct context *c)
{
	unsigned char *in_memory = malloc(pages);
	uint64_t kept = 0;
	throw_out(c);
	if (in_memory == NULL || mincore(region, pages * page_size, in_memory) != 0)
		failed(c, "mincore");
	for (uint64_t i = 0; in_memory != NULL && i < pages; i++)
		kept += in_memory[i] & 1;
	free(in_memory);
	if (kept > pages / 100)
		skip(c,
		     "the file system here keeps %u of %u pages in memory when it is told to let go of them; choose a directory on a disk with --dir",
		     (unsigned)kept, (unsigned)pages);
}

static void advise(struct context *c)
{
	const char *said = parameter(c, "advice", "none");
	advice = strcmp(said, "sequential") == 0 ? MADV_SEQUENTIAL : MADV_NORMAL;
	if (strcmp(said, "random") == 0)
		advice = MADV_RANDOM;
	else if (advice == MADV_NORMAL && strcmp(said, "none") != 0)
		wrong_arguments(c, "advice=%s is none of none, sequential and random", said);
	if (madvise(region, pages * page_size, advice) != 0)
		failed(c, "madvise");
}

/* What is read ahead cannot be thrown out before it is there: too much of it, and the system has nothing left but to kill. */
static void read_ahead_must_fit(struct context *c)
{
	static const char *const places[] = {"/sys/class/bdi/%u:%u/read_ahead_kb", "/sys/dev/block/%u:%u/../queue/read_ahead_kb"};
	struct stat status;
	uint64_t kilobytes = 0;
	if (fstat(file, &status) != 0)
		failed(c, "fstat");
	for (int i = 0; i < 2 && kilobytes == 0; i++) {
		char path[80];
		unsigned long found;
		snprintf(path, sizeof path, places[i], major(status.st_dev), minor(status.st_dev));
		FILE *setting = fopen(path, "re");
		if (setting != NULL && fscanf(setting, "%lu", &found) == 1)
			kilobytes = found;
		if (setting != NULL)
			fclose(setting);
	}
	note(c, "read_ahead_kb", "%u", (unsigned)kilobytes);
	if (confined && advice != MADV_RANDOM && 3 * kilobytes * 1024 > allowed * page_size)
		skip(c,
		     "the device reads %u KB ahead, which is too much for %u pages of memory; choose a directory on another one with --dir",
		     (unsigned)kilobytes, (unsigned)allowed);
}

/* Memory of our own, every page of which was written to once: what was never written needs no swap. */
static void write_anonymous(struct context *c)
{
	const char *why = parameter(c, "unswapped", NULL);
	if (!confined) {
		skip(c, "Pages that belong to no file go to swap when a control group holds the process to less memory, and there is none (%s).",
		     parameter(c, "unconfined", "none was made"));
		return;
	}
	if (why != NULL) {
		skip(c, "Pages that belong to no file need swap, and no swap file was made (%s); run it as root on a disk with room for one.", why);
		return;
	}
	region = mmap(NULL, pages * page_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (region == MAP_FAILED) {
		failed(c, "mmap");
		return;
	}
	/* one page at a time, since huge ones would come and go whole */
	if (madvise(region, pages * page_size, MADV_NOHUGEPAGE) != 0 && errno != EINVAL)
		failed(c, "madvise");
	for (uint64_t i = 0; i < pages; i++)
		*(uint64_t *)(void *)(region + i * page_size) = number(i);
}

static void map_file(struct context *c)
{
	write_region(c);
	region = mmap(NULL, pages * page_size, PROT_READ, MAP_SHARED, file, 0);
	if (region == MAP_FAILED)
		failed(c, "mmap");
}

static void setup(struct context *c)
{
	anonymous = strcmp(parameter(c, "swap", "no"), "yes") == 0;
	confined = strcmp(parameter(c, "confined", "no"), "yes") == 0;
	page_size = (size_t)sysconf(_SC_PAGESIZE);
	allowed = parameter_u64(c, "memory_pages", 0);
	pages = parameter_u64(c, "pages", 0);
	touches = parameter_u64(c, "touches", 0);
	if (allowed == 0 || pages <= allowed || pages > MOST || touches == 0 || touches > MOST)
		wrong_arguments(c, "memory_pages=, pages= and touches= must be above 0 and at most %d, and pages= more than are allowed", MOST);
	seen = calloc(1, pages);
	touch = calloc(touches, sizeof *touch);
	if (seen == NULL || touch == NULL) {
		failed(c, "calloc");
		return;
	}
	draw_pages(c);
	if (anonymous)
		write_anonymous(c);
	else
		map_file(c);
	if (region == NULL || region == MAP_FAILED)
		return;
	advise(c);
	if (!anonymous)
		read_ahead_must_fit(c);
	if (!confined)
		note(c, "stand_in",
		     "No control group held the process to %u pages of memory (%s); in its stead all pages of the region were thrown out whenever %u different ones had been touched.",
		     (unsigned)allowed, parameter(c, "unconfined", "none was made"), (unsigned)allowed);
	if (!anonymous)
		must_page(c);
}

/* Counts a page that is not among those touched, as the stand-in for a limit; throws all out when there are too many. */
static void allow(struct context *c, uint32_t page)
{
	if (seen[page])
		return;
	if (seen_count == allowed)
		throw_out(c);
	seen[page] = 1;
	seen_count++;
}

static void run(struct context *c, uint64_t n, uint64_t *check)
{
	for (uint64_t i = 0; i < n; i++) {
		uint64_t sum = 0;
		throw_out(c);
		for (uint64_t t = 0; t < touches; t++) {
			if (!confined)
				allow(c, touch[t]);
			uint64_t word = *(volatile uint64_t *)(region + touch[t] * page_size);
			sum = (sum << 1 | sum >> 63) + word; /* the order counts too */
		}
		*check += sum;
	}
}

static uint64_t expect(struct context *c, uint64_t n)
{
	(void)c;
	return n * wanted_check;
}

static void teardown(struct context *c)
{
	if (!anonymous && unlink(NAME) != 0)
		failed(c, "unlink");
}

const struct kernel kernel = {
	.name = "vm/paging",
	.setup = setup,
	.run = run,
	.expect = expect,
	.teardown = teardown,
	.single = 1,
};
