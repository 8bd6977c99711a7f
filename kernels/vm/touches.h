/* The pages that vm/paging touches, in their order, and the proof that they are drawn as they should be.
 *
 * pattern=sequential: from the first page to the last, and again from the first. random: each page drawn uniformly. gaussian: a step from
 * the page touched before, normally distributed with a standard deviation of deviation= pages; the first is from page 0, and
 * a step out of the region is drawn again. All in whole numbers, so that every machine draws the same pages.
 */
#ifndef GRITSTONE_VM_TOUCHES_H
#define GRITSTONE_VM_TOUCHES_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../runtime/draw.h"
#include "../runtime/kernel.h"

#define MOST (1 << 20) /* pages, and touches */
#define SEED 1982
#define UNIFORMS 12 /* the sum of 12 uniform numbers has variance 1 and is nearly normal */
#define ONE 65536   /* of what is drawn */
#define FINE 256    /* steps are checked to so small a part of a standard deviation */

static uint64_t pages, touches;
static uint32_t *touch; /* page numbers */

/* What was drawn, for its mean and standard deviation. */
struct spread {
	int64_t sum;
	uint64_t squares, count;
};

static void spread_by(struct spread *s, int64_t value)
{
	s->sum += value;
	s->squares += (uint64_t)(value * value);
	s->count++;
}

/* Five standard errors are allowed: sampled deviations scatter by 1/sqrt(2 n) of themselves for normal draws, less for uniform ones. */
static void must_be_spread(struct context *c, const struct spread *s, double mean, double deviation)
{
	double n = (double)s->count, found = (double)s->sum / n;
	double apart = sqrt((double)s->squares / n - found * found);
	if (fabs(found - mean) > 5 * deviation / sqrt(n) + 1 || fabs(apart - deviation) > 5 * deviation / sqrt(2 * n) + 1)
		failed_because(c, "draw", "what was drawn has mean %.1f and standard deviation %.1f; %.1f and %.1f were wanted",
			       found, apart, mean, deviation);
}

static int64_t normal(uint64_t *state)
{
	int64_t sum = -UNIFORMS / 2 * ONE;
	for (int i = 0; i < UNIFORMS; i++)
		sum += (int64_t)(draw(state) >> 48);
	return sum;
}

static void draw_steps(struct context *c, int64_t deviation)
{
	uint64_t state = SEED;
	struct spread drawn = {0, 0, 0};
	int64_t page = 0;
	for (uint64_t t = 0; t < touches; t++) {
		int64_t to;
		do {
			int64_t step = normal(&state);
			spread_by(&drawn, step / (ONE / FINE));
			to = page + step * deviation / ONE; /* whole pages, as far as the step goes */
		} while (to < 0 || to >= (int64_t)pages);
		page = to;
		touch[t] = (uint32_t)page;
	}
	must_be_spread(c, &drawn, 0, FINE);
}

static void draw_uniformly(struct context *c)
{
	uint64_t state = SEED;
	struct spread drawn = {0, 0, 0};
	for (uint64_t t = 0; t < touches; t++) {
		touch[t] = (uint32_t)(draw(&state) % pages);
		spread_by(&drawn, touch[t]);
	}
	must_be_spread(c, &drawn, (double)pages / 2, (double)pages / sqrt(12));
}

static void note_touched(struct context *c)
{
	unsigned distinct = 0;
	unsigned char *seen = calloc(1, pages);
	if (seen == NULL) {
		failed(c, "calloc");
		return;
	}
	for (uint64_t t = 0; t < touches; t++) {
		distinct += !seen[touch[t]];
		seen[touch[t]] = 1;
	}
	free(seen);
	note(c, "pages_touched", "%u different ones in %u touches", distinct, (unsigned)touches);
}

/* Fills touch, from the parameters. */
static void draw_touches(struct context *c)
{
	const char *pattern = parameter(c, "pattern", "");
	uint64_t deviation = parameter_u64(c, "deviation", 0);
	pages = parameter_u64(c, "pages", 0);
	touches = parameter_u64(c, "touches", 0);
	if (pages == 0 || pages > MOST || touches == 0 || touches > MOST || deviation > MOST)
		wrong_arguments(c, "pages= and touches= must be above 0, and they and deviation= at most %d", MOST);
	touch = calloc(touches, sizeof *touch);
	if (touch == NULL) {
		failed(c, "calloc");
		return;
	}
	if (strcmp(pattern, "sequential") == 0)
		for (uint64_t t = 0; t < touches; t++)
			touch[t] = (uint32_t)(t % pages);
	else if (strcmp(pattern, "random") == 0)
		draw_uniformly(c);
	else if (strcmp(pattern, "gaussian") == 0 && deviation > 0)
		draw_steps(c, (int64_t)deviation);
	else
		wrong_arguments(c, "pattern=%s is none of sequential, random, and gaussian with deviation=", pattern);
	note_touched(c);
}

#endif
