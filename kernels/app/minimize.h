/* Minimization of a truth table in app/plagen: the Quine-McCluskey method for several outputs.
 *
 * An implicant has the outputs that are on in all of its rows; two that differ in one input are merged, with their common outputs; an
 * implicant is prime if every merge loses outputs. The cover consists of the essential primes, then greedily of the prime with the largest
 * gain; redundant primes are removed at the end.
 */
#ifndef GRITSTONE_APP_MINIMIZE_H
#define GRITSTONE_APP_MINIMIZE_H

#include "equations.h"

enum { ROWS = 1 << MAX_INPUTS, MAX_CUBES = 531441, BUCKETS = 1 << 16, MAX_GAIN = ROWS * MAX_OUTPUTS };

/* Inputs in `free` are don't-care; the others have the bits of `value`. */
struct cube {
	struct cube *next; /* hash chain; later the list of one gain */
	uint16_t value, free;
	uint32_t outputs;
	unsigned char is_merged;
};

static uint32_t table[ROWS], uncovered[ROWS];
static struct cube cubes[MAX_CUBES], *cube_names[BUCKETS], *primes[MAX_CUBES], *selected[MAX_CUBES], *by_gain[MAX_GAIN + 1];
static uint16_t cover_counts[ROWS][MAX_OUTPUTS]; /* number of cubes that cover an output of a row */
static unsigned cube_count, prime_count, selected_count;

#define FOR_ROWS_OF(cube, row, part) \
	for (unsigned part = 0, more = 1, row = (cube)->value; more; \
	     part = (part - (cube)->free) & (cube)->free, more = part != 0, row = (cube)->value | part)

#define FOR_OUTPUTS_OF(set, output) \
	for (uint32_t left = (set), output; left != 0 && (output = (uint32_t)__builtin_ctz(left), 1); left &= left - 1)

static struct cube **find_bucket(unsigned value, unsigned free)
{
	uint32_t hash = (value << 16 | free) * 2654435761u;
	return &cube_names[hash >> 16];
}

static struct cube *find_cube(unsigned value, unsigned free)
{
	struct cube *q = *find_bucket(value, free);
	while (q != NULL && (q->value != value || q->free != free))
		q = q->next;
	return q;
}

/* At most 3 to the power of inputs. */
static void add_cube(unsigned value, unsigned free, uint32_t outputs)
{
	struct cube **bucket = find_bucket(value, free), *q = &cubes[cube_count++];
	*q = (struct cube){*bucket, (uint16_t)value, (uint16_t)free, outputs, 0};
	*bucket = q;
}

/* Generates all implicants, by number of free inputs, and marks the primes. */
static void merge(unsigned inputs)
{
	memset(cube_names, 0, sizeof cube_names);
	cube_count = prime_count = 0;
	for (unsigned row = 0; row < 1u << inputs; row++)
		if (table[row] != 0)
			add_cube(row, 0, table[row]);
	for (unsigned i = 0; i < cube_count; i++) {
		struct cube *q = &cubes[i];
		for (unsigned bit = 1; bit < 1u << inputs; bit <<= 1) {
			struct cube *other = (q->value | q->free) & bit ? NULL : find_cube(q->value | bit, q->free);
			uint32_t outputs = other != NULL ? q->outputs & other->outputs : 0;
			if (outputs == 0)
				continue;
			q->is_merged |= outputs == q->outputs;
			other->is_merged |= outputs == other->outputs;
			if (find_cube(q->value, q->free | bit) == NULL)
				add_cube(q->value, q->free | bit, outputs);
		}
	}
	for (unsigned i = 0; i < cube_count; i++)
		if (!cubes[i].is_merged)
			primes[prime_count++] = &cubes[i];
}

static void adjust_counts(const struct cube *q, int by)
{
	FOR_ROWS_OF(q, row, part)
		FOR_OUTPUTS_OF(q->outputs, output)
			cover_counts[row][output] = (uint16_t)(cover_counts[row][output] + by);
}

/* Whether it alone covers some output. */
static int is_irredundant(const struct cube *q)
{
	FOR_ROWS_OF(q, row, part)
		FOR_OUTPUTS_OF(q->outputs, output)
			if (cover_counts[row][output] == 1)
				return 1;
	return 0;
}

static void select_cube(struct cube *q)
{
	selected[selected_count++] = q;
	FOR_ROWS_OF(q, row, part)
		uncovered[row] &= ~q->outputs;
}

static unsigned compute_gain(const struct cube *q)
{
	unsigned gain = 0;
	FOR_ROWS_OF(q, row, part)
		gain += (unsigned)__builtin_popcount(uncovered[row] & q->outputs);
	return gain;
}

static void enqueue(struct cube *q, unsigned gain)
{
	q->next = by_gain[gain];
	by_gain[gain] = q;
}

/* Selects an irredundant cover. */
static void cover(unsigned inputs)
{
	memcpy(uncovered, table, sizeof(*table) << inputs);
	memset(cover_counts, 0, sizeof(*cover_counts) << inputs);
	memset(by_gain, 0, sizeof by_gain);
	selected_count = 0;
	for (unsigned i = 0; i < prime_count; i++)
		adjust_counts(primes[i], 1);
	for (unsigned i = 0; i < prime_count; i++)
		if (is_irredundant(primes[i]))
			select_cube(primes[i]);
	for (unsigned i = 0; i < prime_count; i++)
		enqueue(primes[i], compute_gain(primes[i]));
	/* gains only decrease, so an unchanged one is the maximum */
	for (unsigned gain = MAX_GAIN; gain > 0; gain--)
		while (by_gain[gain] != NULL) {
			struct cube *q = by_gain[gain];
			unsigned now = compute_gain(q);
			by_gain[gain] = q->next;
			if (now == gain)
				select_cube(q);
			else
				enqueue(q, now);
		}
	memset(cover_counts, 0, sizeof(*cover_counts) << inputs);
	for (unsigned i = 0; i < selected_count; i++)
		adjust_counts(selected[i], 1);
	unsigned remaining = selected_count;
	for (unsigned i = selected_count; i-- > 0;)
		if (!is_irredundant(selected[i])) {
			adjust_counts(selected[i], -1);
			selected[i] = NULL;
			remaining--;
		}
	for (unsigned i = 0, to = 0; to < remaining; i++)
		if (selected[i] != NULL)
			selected[to++] = selected[i];
	selected_count = remaining;
}

#endif
