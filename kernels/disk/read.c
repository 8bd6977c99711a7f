/* disk/read-seq, read-gauss: cold reads from a file, sequential and normally distributed (hp-1987, section 7, table 7.3).
 *
 * One operation is bytes= / 8 KB reads of 8 KB. pattern=sequential reads the file sequentially, gaussian draws blocks around its center
 * with a standard deviation of deviation= blocks, some repeatedly and most never. The file is dropped from the page cache before each
 * operation, by the method of cold_by=.
 */
#define _GNU_SOURCE
#include <math.h>

#include "transfer.h"

#define BLOCK 8192
#define PUBLISHED (4 << 20)
#define NAME "data"
#define SEED 1987
#define UNIFORMS 12 /* the sum of 12 uniform numbers has variance 1 and is nearly normal */

static struct transfer data;
static int file = -1, read_fd = -1;
static enum cold by;

/* Integer arithmetic, so that every machine draws the same blocks; draws outside the file are repeated. Block k is the interval from k to k
 * + 1: numbers are rounded down, and their mean is half a block below the center. */
static uint32_t gaussian(uint64_t *state, uint64_t deviation)
{
	for (;;) {
		int64_t sum = (int64_t)data.blocks * 32768;
		for (int i = 0; i < UNIFORMS; i++)
			sum += ((int64_t)(draw(state) >> 48) - 32768) * (int64_t)deviation;
		if (sum >= 0 && (uint64_t)sum >> 16 < data.blocks)
			return (uint32_t)(sum >> 16);
	}
}

/* Checks and notes mean and standard deviation. Tolerance: five standard errors; that of a deviation is 1/sqrt(2 n) of itself. */
static void verify_draws(struct context *c, const uint32_t *order, double deviation)
{
	double n = (double)data.blocks, sum = 0, squares = 0, center = (n - 1) / 2;
	unsigned char *drawn = calloc(1, data.blocks);
	unsigned distinct = 0;
	for (uint64_t i = 0; drawn != NULL && i < data.blocks; i++) {
		double distance = order[i] - center;
		sum += distance;
		squares += distance * distance;
		distinct += !drawn[order[i]];
		drawn[order[i]] = 1;
	}
	free(drawn);
	double mean = sum / n, found = sqrt(squares / n - mean * mean);
	note(c, "blocks_drawn", "mean %.2f, standard deviation %.2f, %u different ones, of %u", center + mean, found, distinct,
	     (unsigned)data.blocks);
	if (fabs(mean) > 5 * deviation / sqrt(n) || fabs(found - deviation) > 5 * deviation / sqrt(2 * n))
		failed_because(c, "draw", "the drawn blocks have mean %.2f and standard deviation %.2f; expected %.2f and %.2f",
			       center + mean, found, center, deviation);
}

static void draw_blocks(struct context *c)
{
	uint64_t deviation = parameter_u64(c, "deviation", 0), state = SEED;
	uint32_t *order = calloc(data.blocks, sizeof *order);
	if (order == NULL || deviation == 0 || deviation > data.blocks)
		wrong_arguments(c, "pattern=gaussian needs deviation=, above 0 and at most %u blocks", (unsigned)data.blocks);
	for (uint64_t i = 0; i < data.blocks; i++)
		order[i] = gaussian(&state, deviation);
	verify_draws(c, order, (double)deviation);
	data.order = order;
}

static void make_file(struct context *c)
{
	struct transfer whole = {.writes = 1, .block = BLOCK};
	file = open(NAME, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (file < 0) {
		file_failed(c, "open", errno);
		return;
	}
	for (uint64_t i = 0; i < data.blocks; i++) {
		fill_stamp(&whole, data.buffers, i);
		ssize_t put = pwrite(file, data.buffers, BLOCK, (off_t)(i * BLOCK));
		/* in steps, since with a memory limit below the file size dirty pages must be written first */
		if (put != BLOCK || (i % 512 == 511 && fdatasync(file) != 0)) {
			file_failed(c, "write", put < 0 || put == BLOCK ? errno : ENOSPC);
			return;
		}
	}
}

static void setup(struct context *c)
{
	const char *pattern = parameter(c, "pattern", "");
	int is_gaussian = strcmp(pattern, "gaussian") == 0;
	if (!is_gaussian && strcmp(pattern, "sequential") != 0)
		wrong_arguments(c, "pattern=%s is neither sequential nor gaussian", pattern);
	setup_transfer(c, &data, BLOCK, PUBLISHED);
	if (!limit_is_below(c, data.blocks * BLOCK))
		return;
	by = parse_cold_by(c);
	if (data.buffers == NULL)
		return;
	if (is_gaussian)
		draw_blocks(c);
	make_file(c);
	if (file < 0)
		return;
	require_cold(c, file);
	read_fd = by != BY_DIRECT ? file : open(NAME, O_RDONLY | O_DIRECT | O_CLOEXEC);
	if (read_fd < 0)
		skip(c, "Direct reads are not possible here (%s): leave --param cold_by= out, or choose another directory with --dir.",
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
		if (transfer(c, &data, read_fd, check) != 0)
			return;
}

static uint64_t expect(struct context *c, uint64_t n)
{
	(void)c;
	return n * transfer_sum(&data);
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
