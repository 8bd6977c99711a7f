/* How app/plagen minimizes a truth table: the method of Quine and McCluskey for several outputs.
 *
 * An implicant has the outputs of which all its rows are on; two that differ in one input become one, with the outputs of both, and an
 * implicant is prime when it loses outputs by each such step. Of the primes the essential ones are taken, then always one that
 * covers most of what is left; those that turn out to be redundant are dropped.
 */
#ifndef GRITSTONE_APP_MINIMIZE_H
#define GRITSTONE_APP_MINIMIZE_H

#include "equations.h"

enum { ROWS = 1 << MOST_INPUTS, MOST_CUBES = 531441, BUCKETS = 1 << 16, MOST_GAIN = ROWS * MOST_OUTPUTS };

/* Inputs with a bit in `free` may be either; the others are as in `value`. */
struct cube {
	struct cube *chained; /* of one bucket; later of one gain */
	uint16_t value, free;
	uint32_t outputs;
	unsigned char is_merged;
};

static uint32_t table[ROWS], uncovered[ROWS];
static struct cube cubes[MOST_CUBES], *cube_names[BUCKETS], *primes[MOST_CUBES], *taken[MOST_CUBES], *by_gain[MOST_GAIN + 1];
static uint16_t times[ROWS][MOST_OUTPUTS]; /* a row's output is covered */
static unsigned cube_count, prime_count, taken_count;

#define FOR_ROWS_OF(cube, row, part) \
	for (unsigned part = 0, more = 1, row = (cube)->value; more; \
	     part = (part - (cube)->free) & (cube)->free, more = part != 0, row = (cube)->value | part)

#define FOR_OUTPUTS_OF(set, output) \
	for (uint32_t left = (set), output; left != 0 && (output = (uint32_t)__builtin_ctz(left), 1); left &= left - 1)

static struct cube **bucket_of(unsigned value, unsigned free)
{
	uint32_t hash = (value << 16 | free) * 2654435761u;
	return &cube_names[hash >> 16];
}

static struct cube *find_cube(unsigned value, unsigned free)
{
	struct cube *q = *bucket_of(value, free);
	while (q != NULL && (q->value != value || q->free != free))
		q = q->chained;
	return q;
}

/* There are 3 to the power of inputs at most. */
static void add_cube(unsigned value, unsigned free, uint32_t outputs)
{
	struct cube **bucket = bucket_of(value, free), *q = &cubes[cube_count++];
	*q = (struct cube){*bucket, (uint16_t)value, (uint16_t)free, outputs, 0};
	*bucket = q;
}

/* All implicants, by how many inputs are free, and the primes among them. */
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

static void count(const struct cube *q, int by)
{
	FOR_ROWS_OF(q, row, part)
		FOR_OUTPUTS_OF(q->outputs, output)
			times[row][output] = (uint16_t)(times[row][output] + by);
}

/* Whether it alone covers something, by the counts. */
static int is_needed(const struct cube *q)
{
	FOR_ROWS_OF(q, row, part)
		FOR_OUTPUTS_OF(q->outputs, output)
			if (times[row][output] == 1)
				return 1;
	return 0;
}

static void take(struct cube *q)
{
	taken[taken_count++] = q;
	FOR_ROWS_OF(q, row, part)
		uncovered[row] &= ~q->outputs;
}

static unsigned gain_of(const struct cube *q)
{
	unsigned gain = 0;
	FOR_ROWS_OF(q, row, part)
		gain += (unsigned)__builtin_popcount(uncovered[row] & q->outputs);
	return gain;
}

static void queue(struct cube *q, unsigned gain)
{
	q->chained = by_gain[gain];
	by_gain[gain] = q;
}

/* Primes that cover the table, none of which the others make redundant. */
static void cover(unsigned inputs)
{
	memcpy(uncovered, table, sizeof(*table) << inputs);
	memset(times, 0, sizeof(*times) << inputs);
	memset(by_gain, 0, sizeof by_gain);
	taken_count = 0;
	for (unsigned i = 0; i < prime_count; i++)
		count(primes[i], 1);
	for (unsigned i = 0; i < prime_count; i++)
		if (is_needed(primes[i]))
			take(primes[i]);
	for (unsigned i = 0; i < prime_count; i++)
		queue(primes[i], gain_of(primes[i]));
	/* gains only fall: one that is what it was is the largest */
	for (unsigned gain = MOST_GAIN; gain > 0; gain--)
		while (by_gain[gain] != NULL) {
			struct cube *q = by_gain[gain];
			unsigned now = gain_of(q);
			by_gain[gain] = q->chained;
			if (now == gain)
				take(q);
			else
				queue(q, now);
		}
	memset(times, 0, sizeof(*times) << inputs);
	for (unsigned i = 0; i < taken_count; i++)
		count(taken[i], 1);
	unsigned kept = taken_count;
	for (unsigned i = taken_count; i-- > 0;)
		if (!is_needed(taken[i])) {
			count(taken[i], -1);
			taken[i] = NULL;
			kept--;
		}
	for (unsigned i = 0, to = 0; to < kept; i++)
		if (taken[i] != NULL)
			taken[to++] = taken[i];
	taken_count = kept;
}

#endif
