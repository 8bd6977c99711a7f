/* disk/read-seq, read-gauss: an amount of data read from a file of that size (hp-1987, section 7, table 7.3).
 *
 * One operation is bytes= / 8 KB reads of 8 KB. pattern=sequential reads the file from front to back, gaussian draws blocks about its
 * center with a standard deviation of deviation= blocks, some of them often and most never. Nothing of the file is in the page cache
 * when an operation begins; how that was reached is said by parse_cold_by=.
 */
#define _GNU_SOURCE
#include <math.h>

#include "transfer.h"

#define BLOCK 8192
#define PUBLISHED (4 << 20)
#define NAME "data"
#define SEED 1987
#define UNIFORMS 12 /* the sum of 12 uniform numbers has variance 1 and is nearly normal */

static struct transfer all;
static int file = -1, reading = -1;
static enum cold by;

/* In whole numbers, so that every machine draws the same blocks; what falls outside the file is drawn again. Block k is
 * what lies between k and k + 1, so that blocks are rounded down and their mean is half a block before the center. */
static uint32_t gaussian(uint64_t *state, uint64_t deviation)
{
	for (;;) {
		int64_t sum = (int64_t)all.blocks * 32768;
		for (int i = 0; i < UNIFORMS; i++)
			sum += ((int64_t)(draw(state) >> 48) - 32768) * (int64_t)deviation;
		if (sum >= 0 && (uint64_t)sum >> 16 < all.blocks)
			return (uint32_t)(sum >> 16);
	}
}

/* Shows that the blocks drawn are spread as they should be, and says how. Five standard errors are allowed; a sampled deviation
 * scatters by 1/sqrt(2 n) of itself. */
static void verify_draws(struct context *c, const uint32_t *order, double deviation)
{
	double n = (double)all.blocks, sum = 0, squares = 0, center = (n - 1) / 2;
	unsigned char *drawn = calloc(1, all.blocks);
	unsigned distinct = 0;
	for (uint64_t i = 0; drawn != NULL && i < all.blocks; i++) {
		double off = order[i] - center;
		sum += off;
		squares += off * off;
		distinct += !drawn[order[i]];
		drawn[order[i]] = 1;
	}
	free(drawn);
	double mean = sum / n, found = sqrt(squares / n - mean * mean);
	note(c, "blocks_drawn", "mean %.2f, standard deviation %.2f, %u different ones, of %u", center + mean, found, distinct,
	     (unsigned)all.blocks);
	if (fabs(mean) > 5 * deviation / sqrt(n) || fabs(found - deviation) > 5 * deviation / sqrt(2 * n))
		failed_because(c, "draw", "the blocks drawn have mean %.2f and standard deviation %.2f; %.2f and %.2f were wanted",
			       center + mean, found, center, deviation);
}

static void draw_blocks(struct context *c)
{
	uint64_t deviation = parameter_u64(c, "deviation", 0), state = SEED;
	uint32_t *order = calloc(all.blocks, sizeof *order);
	if (order == NULL || deviation == 0 || deviation > all.blocks)
		wrong_arguments(c, "pattern=gaussian needs deviation=, above 0 and at most %u blocks", (unsigned)all.blocks);
	for (uint64_t i = 0; i < all.blocks; i++)
		order[i] = gaussian(&state, deviation);
	verify_draws(c, order, (double)deviation);
	all.order = order;
}

static void make_file(struct context *c)
{
	struct transfer whole = {.writes = 1, .block = BLOCK};
	file = open(NAME, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (file < 0) {
		file_failed(c, "open", errno);
		return;
	}
	for (uint64_t i = 0; i < all.blocks; i++) {
		fill(&whole, all.buffers, i);
		ssize_t put = pwrite(file, all.buffers, BLOCK, (off_t)(i * BLOCK));
		/* little by little, since with less memory than the file has what is dirty must go first */
		if (put != BLOCK || (i % 512 == 511 && fdatasync(file) != 0)) {
			file_failed(c, "write", put < 0 || put == BLOCK ? errno : ENOSPC);
			return;
		}
	}
}

static void setup(struct context *c)
{
	const char *pattern = parameter(c, "pattern", "");
	int gauss = strcmp(pattern, "gaussian") == 0;
	if (parameter_u64(c, "memory_pages", 0) != 0 && strcmp(parameter(c, "confined", "no"), "yes") != 0)
		skip(c, "No control group holds the program to less memory than it reads (%s): as root this row runs.",
		     parameter(c, "unconfined", "none was made"));
	if (!gauss && strcmp(pattern, "sequential") != 0)
		wrong_arguments(c, "pattern=%s is neither sequential nor gaussian", pattern);
	transfer_begin(c, &all, BLOCK, PUBLISHED);
	by = parse_cold_by(c);
	if (all.buffers == NULL)
		return;
	if (gauss)
		draw_blocks(c);
	make_file(c);
	if (file < 0)
		return;
	require_device(c, file);
	reading = by != BY_DIRECT ? file : open(NAME, O_RDONLY | O_DIRECT | O_CLOEXEC);
	if (reading < 0)
		skip(c, "Reads past the cache are not possible here (%s): leave --param cold_by= out, or name another directory with --dir.",
		     strerror(errno));
}

static void prepare(struct context *c, uint64_t n)
{
	(void)n;
	if (by != BY_DIRECT)
		evict_file(c, file, by);
}

static void run(struct context *c, uint64_t n, uint64_t *check)
{
	for (uint64_t i = 0; i < n; i++)
		if (transfer(c, &all, reading, check) != 0)
			return;
}

static uint64_t expect(struct context *c, uint64_t n)
{
	(void)c;
	return n * transfer_sum(&all);
}

static void teardown(struct context *c)
{
	if (unlink(NAME) != 0)
		failed(c, "unlink");
}

const struct kernel kernel = {
	.name = "disk/read",
	.setup = setup,
	.prepare = prepare,
	.run = run,
	.expect = expect,
	.teardown = teardown,
	.single = 1,
};
