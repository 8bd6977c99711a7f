/* Common part of vm/fft and vm/fft-fftw: the array, and the check of its transform.
 *
 * The transform is forward, of side * side complex numbers. Expected values are computed at a few sample points by the defining sum, in
 * double precision, and the sum of squares by Parseval's theorem. Arrays are mapped, for madvise(2).
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "../runtime/kernel.h"

#define SAMPLES 4
#define MAX_SIDE 4096

struct complex_number {
	double real, imaginary;
};

static int single, side;
static double tolerance;
static size_t bytes;
static char *input, *array; /* interleaved real and imaginary parts, columns of `side` numbers */
static struct complex_number *roots; /* exp(-2 pi i k / side) */
static struct {
	int row, column;
	struct complex_number value; /* divided by side, which preserves the sum of squares */
} samples[SAMPLES];
static double squares;

static struct complex_number get(const char *from, int row, int column)
{
	size_t index = 2 * ((size_t)row + (size_t)column * (size_t)side);
	if (single) {
		const float *f = (const float *)(const void *)from + index;
		return (struct complex_number){(double)f[0], (double)f[1]};
	}
	const double *d = (const double *)(const void *)from + index;
	return (struct complex_number){d[0], d[1]};
}

static void set(char *into, size_t i, double value)
{
	if (single)
		((float *)(void *)into)[i] = (float)value;
	else
		((double *)(void *)into)[i] = value;
}

static void add_product(struct complex_number *sum, struct complex_number a, struct complex_number b)
{
	sum->real += a.real * b.real - a.imaginary * b.imaginary;
	sum->imaginary += a.real * b.imaginary + a.imaginary * b.real;
}

static void compute_samples(void)
{
	for (int p = 0; p < SAMPLES; p++) {
		struct complex_number sum = {0, 0};
		int row = samples[p].row = (37 * p + 1) % side, column = samples[p].column = (91 * p + 5) % side;
		for (int j = 0; j < side; j++) {
			struct complex_number column_sum = {0, 0};
			for (int i = 0; i < side; i++)
				add_product(&column_sum, get(input, i, j), roots[i * row % side]);
			add_product(&sum, column_sum, roots[j * column % side]);
		}
		samples[p].value = (struct complex_number){sum.real / side, sum.imaginary / side};
	}
}

static double sum_of_squares(const char *values)
{
	double sum = 0;
	for (int j = 0; j < side; j++)
		for (int i = 0; i < side; i++) {
			struct complex_number z = get(values, i, j);
			sum += z.real * z.real + z.imaginary * z.imaginary;
		}
	return sum;
}

static char *map(struct context *c)
{
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory != MAP_FAILED)
		return memset(memory, 0, bytes);
	failed(c, "mmap");
	return NULL;
}

/* Allocates the arrays, and fills the input with numbers from -1 to 1. Returns 0 on failure. */
static int setup_fft(struct context *c)
{
	const char *precision = parameter(c, "precision", "single");
	uint64_t length = parameter_u64(c, "side", 512);
	single = strcmp(precision, "single") == 0;
	tolerance = single ? 1e-3 : 1e-10;
	if (!single && strcmp(precision, "double") != 0)
		wrong_arguments(c, "precision=%s is neither single nor double", precision);
	if (length < 2 || length > MAX_SIDE || (length & (length - 1)) != 0)
		wrong_arguments(c, "side=%llu is not a power of two from 2 to 4,096", (unsigned long long)length);
	side = (int)length;
	bytes = 2 * (size_t)side * (size_t)side * (single ? sizeof(float) : sizeof(double));
	roots = malloc((size_t)side * sizeof *roots);
	if (roots == NULL || (input = map(c)) == NULL || (array = map(c)) == NULL) {
		failed(c, "malloc");
		return 0;
	}
	for (int k = 0; k < side; k++) {
		double angle = 2 * acos(-1) * k / side;
		roots[k] = (struct complex_number){cos(angle), -sin(angle)};
	}
	uint32_t state = 1981; /* Numerical Recipes' quick generator; the high bits are the better ones */
	for (size_t i = 0; i < 2 * (size_t)side * (size_t)side; i++) {
		state = state * 1664525u + 1013904223u;
		set(input, i, (state >> 8) / 8388608.0 - 1);
	}
	squares = sum_of_squares(input);
	compute_samples();
	return 1;
}

static int is_near(struct complex_number a, struct complex_number b, double scale)
{
	return fabs(a.real - scale * b.real) <= tolerance * scale && fabs(a.imaginary - scale * b.imaginary) <= tolerance * scale;
}

/* Whether an array is the transform of the input times `scale`, with reversed indices if `back`. */
static int is_transform(const char *values, double scale, int back)
{
	for (int p = 0; p < SAMPLES; p++) {
		int row = back ? (side - samples[p].row) % side : samples[p].row;
		int column = back ? (side - samples[p].column) % side : samples[p].column;
		if (!is_near(get(values, row, column), samples[p].value, scale))
			return 0;
	}
	return fabs(sum_of_squares(values) / (scale * scale) - squares) <= tolerance * squares;
}
