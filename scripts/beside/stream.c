/* The four operations of STREAM over arrays of 128 MiB, in plain loops: what scripts/against-cpu holds memory/bandwidth/... against.
 * Prints MB/s of each, the median of the passes: 16 or 24 bytes an element, as STREAM counts. */
#include <stdio.h>

#include "timing.h"

enum { ELEMENTS = 1 << 24, PASSES = 9, OPERATIONS = 4 };
static const char *const names[OPERATIONS] = {"copy", "scale", "add", "triad"};
static const double bytes[OPERATIONS] = {16, 16, 24, 24};

static __attribute__((noinline)) void pass(int operation, double *restrict a, double *restrict b, double *restrict c, double q)
{
	switch (operation) {
	case 0:
		for (long i = 0; i < ELEMENTS; i++)
			c[i] = a[i];
		break;
	case 1:
		for (long i = 0; i < ELEMENTS; i++)
			b[i] = q * c[i];
		break;
	case 2:
		for (long i = 0; i < ELEMENTS; i++)
			c[i] = a[i] + b[i];
		break;
	case 3:
		for (long i = 0; i < ELEMENTS; i++)
			a[i] = b[i] + q * c[i];
	}
}

int main(void)
{
	double *a = malloc(ELEMENTS * sizeof *a), *b = malloc(ELEMENTS * sizeof *b), *c = malloc(ELEMENTS * sizeof *c);
	double took[OPERATIONS][PASSES], value = 1;
	if (a == NULL || b == NULL || c == NULL)
		return 1;
	for (long i = 0; i < ELEMENTS; i++)
		a[i] = b[i] = c[i] = value;
	for (int k = 0; k < PASSES; k++) {
		for (int operation = 0; operation < OPERATIONS; operation++) {
			double begin = now();
			pass(operation, a, b, c, 0.4);
			took[operation][k] = now() - begin;
		}
		value = 0.4 * value + 0.4 * (value + 0.4 * value);
	}
	for (long i = 0; i < ELEMENTS; i++)
		if (a[i] / value < 1 - 1e-9 || a[i] / value > 1 + 1e-9)
			return 1;
	for (int operation = 0; operation < OPERATIONS; operation++) {
		double seconds = median(took[operation], PASSES);
		printf("%s %.1f\n", names[operation], bytes[operation] * ELEMENTS / seconds / 1e6);
	}
	return 0;
}
