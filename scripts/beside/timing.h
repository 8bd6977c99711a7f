/* The clock, and the median of what it said. */
#include <stdlib.h>
#include <time.h>

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static int ascending(const void *x, const void *y)
{
	double difference = *(const double *)x - *(const double *)y;
	return (difference > 0) - (difference < 0);
}

static double median(double *values, int count)
{
	qsort(values, (size_t)count, sizeof *values, ascending);
	return values[count / 2];
}
