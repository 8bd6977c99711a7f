/* Access pattern of vm/paging, and a check of its distribution.
 *
 * pattern=sequential: from the first page to the last, cyclically. random: uniform. gaussian: a step from the previous page, normally
 * distributed with a standard deviation of deviation= pages, starting at page 0; a step out of the region is redrawn. Integer arithmetic,
 * so that every machine draws the same pages.
 */
#ifndef GRITSTONE_VM_TOUCHES_H
#define GRITSTONE_VM_TOUCHES_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../runtime/draw.h"
#include "../runtime/kernel.h"

#define MAX_TOUCHES (1 << 20) /* maximum of pages and of touches */
#define SEED 1982
#define UNIFORMS 12 /* the sum of 12 uniform numbers has variance 1 and is nearly normal */
#define SCALE 65536   /* fixed point: 1.0 */
#define STEP_SCALE 256    /* resolution of the check: parts of a standard deviation */

static uint64_t pages, touches;
static uint32_t *touch; /* page numbers */

/* Moments of the drawn numbers. */
struct moments {
	int64_t sum;
	uint64_t squares, count;
};

static void add_to_moments(struct moments *s, int64_t value)
{
	s->sum += value;
	s->squares += (uint64_t)(value * value);
	s->count++;
}

/* Tolerance: five standard errors. The relative standard error of a deviation is 1/sqrt(2 n) for normal draws, less for uniform ones. */
static void check_moments(struct context *c, const struct moments *s, double mean, double deviation)
{
	double n = (double)s->count, found = (double)s->sum / n;
	double found_deviation = sqrt((double)s->squares / n - found * found);
	if (fabs(found - mean) > 5 * deviation / sqrt(n) + 1 || fabs(found_deviation - deviation) > 5 * deviation / sqrt(2 * n) + 1)
		failed_because(c, "draw", "the drawn numbers have mean %.1f and standard deviation %.1f; expected %.1f and %.1f",
			       found, found_deviation, mean, deviation);
}

static int64_t normal(uint64_t *state)
{
	int64_t sum = -UNIFORMS / 2 * SCALE;
	for (int i = 0; i < UNIFORMS; i++)
		sum += (int64_t)(draw(state) >> 48);
	return sum;
}

static void draw_steps(struct context *c, int64_t deviation)
{
	uint64_t state = SEED;
	struct moments moments_found = {0, 0, 0};
	int64_t page = 0;
	for (uint64_t t = 0; t < touches; t++) {
		int64_t to;
		do {
			int64_t step = normal(&state);
			add_to_moments(&moments_found, step / (SCALE / STEP_SCALE));
			to = page + step * deviation / SCALE; /* truncated to whole pages */
		} while (to < 0 || to >= (int64_t)pages);
		page = to;
		touch[t] = (uint32_t)page;
	}
	check_moments(c, &moments_found, 0, STEP_SCALE);
}

static void draw_uniformly(struct context *c)
{
	uint64_t state = SEED;
	struct moments moments_found = {0, 0, 0};
	for (uint64_t t = 0; t < touches; t++) {
		touch[t] = (uint32_t)(draw(&state) % pages);
		add_to_moments(&moments_found, touch[t]);
	}
	check_moments(c, &moments_found, (double)pages / 2, (double)pages / sqrt(12));
}

static void note_touched(struct context *c)
{
	unsigned distinct = 0;
	unsigned char *touched = calloc(1, pages);
	if (touched == NULL) {
		failed(c, "calloc");
		return;
	}
	for (uint64_t t = 0; t < touches; t++) {
		distinct += !touched[touch[t]];
		touched[touch[t]] = 1;
	}
	free(touched);
	note(c, "pages_touched", "%u different ones in %u touches", distinct, (unsigned)touches);
}

static void draw_touches(struct context *c)
{
	const char *pattern = parameter(c, "pattern", "");
	uint64_t deviation = parameter_u64(c, "deviation", 0);
	pages = parameter_u64(c, "pages", 0);
	touches = parameter_u64(c, "touches", 0);
	if (pages == 0 || pages > MAX_TOUCHES || touches == 0 || touches > MAX_TOUCHES || deviation > MAX_TOUCHES)
		wrong_arguments(c, "pages= and touches= must be above 0, and they and deviation= at most %d", MAX_TOUCHES);
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
		wrong_arguments(c, "pattern=%s is not sequential, random, or gaussian with deviation=", pattern);
	note_touched(c);
}

#endif
