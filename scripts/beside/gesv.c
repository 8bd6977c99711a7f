/* Solves a dense random system of order N (argument 1) as often as argument 2 says with the dgesv that it is linked with: what
 * scripts/against-cpu holds cpu/linpack-1000/dp-tuned against. Prints GFLOPS, the median of all but the first: 2/3 n^3 + 2 n^2. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "timing.h"

void dgesv_(const int *n, const int *right_sides, double *a, const int *lda, int *pivot, double *b, const int *ldb, int *info);

int main(int argc, char **argv)
{
	const int n = argc > 1 ? atoi(argv[1]) : 1000, times = argc > 2 ? atoi(argv[2]) : 5, one = 1;
	const size_t order = (size_t)n;
	double *matrix = malloc(order * order * sizeof *matrix), *a = malloc(order * order * sizeof *a);
	double *sums = calloc(order, sizeof *sums), *b = malloc(order * sizeof *b), *took = malloc((size_t)times * sizeof *took);
	int *pivot = malloc(order * sizeof *pivot), info;
	if (matrix == NULL || a == NULL || sums == NULL || b == NULL || took == NULL || pivot == NULL)
		return 1;
	for (size_t i = 0; i < order * order; i++)
		sums[i % order] += matrix[i] = drand48() - 0.5;
	for (int k = -1; k < times; k++) {
		memcpy(a, matrix, order * order * sizeof *a);
		memcpy(b, sums, order * sizeof *b);
		double begin = now();
		dgesv_(&n, &one, a, &n, pivot, b, &n, &info);
		double end = now();
		if (k >= 0)
			took[k] = end - begin;
		for (size_t i = 0; i < order; i++)
			if (info != 0 || fabs(b[i] - 1) > 1e-6)
				return 1;
	}
	printf("%.4f\n", (2.0 / 3 * n * n * n + 2.0 * n * n) / median(took, times) / 1e9);
	return 0;
}
