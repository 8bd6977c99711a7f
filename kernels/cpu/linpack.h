/* Common part of cpu/linpack and cpu/linpack-tuned: the system of equations, the check of solutions, and the hooks.
 *
 * One operation solves one dense system of order n: gefa factors the matrix, gesl solves. Only these are timed; each works on a copy of the
 * matrix. The matrix is Linpack's (a linear congruential generator from -2 to 2), the right side its row sums, so that the solution is all
 * ones. The check value is the number of systems whose normalized residual, in units of n * largest element * largest unknown * rounding
 * error, is within BOUND, beyond order 1,000 times the order over 1,000; Linpack prints this number, typically 1 to 10.
 */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../memory/caches.h"
#include "../runtime/draw.h"
#include "../runtime/kernel.h"

#define BOUND 16.0
#define MAX_SYSTEMS 128

typedef void axpy(const int *n, const void *factor, const void *x, const int *step_x, void *y, const int *step_y);
typedef void scal(const int *n, const void *factor, void *x, const int *step);
typedef int iamax(const int *n, const void *x, const int *step);
typedef void gefa(void *a, const int *lda, const int *n, int *pivot, int *info, axpy *, scal *, iamax *);
typedef void gesl(const void *a, const int *lda, const int *n, const int *pivot, void *b, axpy *);

gefa linpack_sgefa, linpack_dgefa;
gesl linpack_sgesl, linpack_dgesl;

/* The routines of one precision. */
struct precision {
	const char *name;
	size_t size;
	double epsilon;
	gefa *factor;
	gesl *solve;
	axpy *axpy;
	scal *scal;
	iamax *iamax;
	/* If set, LAPACK's gesv in place of both: n, right sides, a, lda, pivots, b, ldb, info. */
	void (*gesv)(const int *, const int *, void *, const int *, int *, void *, const int *, int *);
};

static struct precision *chosen;
static int order, lda;
static size_t matrix_bytes, vector_bytes;
static char *matrix, *vector, *matrices, *vectors;
static int *pivots, infos[MAX_SYSTEMS];
static uint64_t allocated;

static double get(const char *from, size_t i)
{
	return chosen->size == sizeof(float) ? (double)((const float *)(const void *)from)[i]
					     : ((const double *)(const void *)from)[i];
}

static void set(char *into, size_t i, double value)
{
	if (chosen->size == sizeof(float))
		((float *)(void *)into)[i] = (float)value;
	else
		((double *)(void *)into)[i] = value;
}

/* The published generator has a period of 16,384, so that columns of larger systems would repeat: no solution would be unique. */
static void generate(void)
{
	int state = 1325;
	uint64_t wide = 1325;
	for (int j = 0; j < order; j++)
		for (int i = 0; i < order; i++) {
			state = order <= 1000 ? 3125 * state % 65536 : (int)(draw(&wide) >> 48);
			double element = (state - 32768.0) / 16384.0; /* exact in both precisions */
			set(matrix, (size_t)i + (size_t)j * (size_t)lda, element);
			set(vector, (size_t)i, get(vector, (size_t)i) + element);
		}
}

/* Skips if these systems take more than half of the free memory, and returns 0. */
static int systems_fit(struct context *c, uint64_t systems)
{
	const uint64_t needed = systems * (matrix_bytes + vector_bytes + (size_t)order * sizeof *pivots);
	if (needed <= memory_available() / 2)
		return 1;
	skip(c, "%llu systems of order %d take %llu MB, more than half of the free memory.", (unsigned long long)systems, order,
	     (unsigned long long)(needed >> 20));
	return 0;
}

/* Parses precision= and order=, and generates the system. The matrix is NULL after failed() or skip(). */
static void select_precision(struct context *c, struct precision *all, int count)
{
	const char *name = parameter(c, "precision", "");
	for (int i = 0; i < count; i++)
		if (strcmp(name, all[i].name) == 0)
			chosen = &all[i];
	uint64_t n = parameter_u64(c, "order", 100);
	if (chosen == NULL)
		wrong_arguments(c, "precision=%s is neither single nor double", name);
	if (n < 1 || n > 20000)
		wrong_arguments(c, "order=%llu is not from 1 to 20,000", (unsigned long long)n);
	order = (int)n;
	lda = order == 100 ? 201 : order + 1; /* as in the published programs */
	vector_bytes = (size_t)order * chosen->size;
	matrix_bytes = (size_t)lda * vector_bytes;
	if (!systems_fit(c, 2)) /* the generated one, and one to solve */
		return;
	matrix = calloc(1, matrix_bytes);
	vector = calloc(1, vector_bytes);
	if (matrix == NULL || vector == NULL)
		failed(c, "calloc");
	else
		generate();
}

static void prepare(struct context *c, uint64_t n)
{
	if (n > allocated) {
		free(matrices);
		free(vectors);
		free(pivots);
		matrices = vectors = NULL;
		pivots = NULL;
		allocated = 0;
		if (!systems_fit(c, n))
			return;
		matrices = malloc(n * matrix_bytes);
		vectors = malloc(n * vector_bytes);
		pivots = malloc(n * (size_t)order * sizeof *pivots);
		allocated = n;
		if (matrices == NULL || vectors == NULL || pivots == NULL) {
			failed(c, "malloc");
			return;
		}
		memset(pivots, 0, n * (size_t)order * sizeof *pivots);
	}
	for (uint64_t i = 0; i < n; i++) {
		memcpy(matrices + i * matrix_bytes, matrix, matrix_bytes);
		memcpy(vectors + i * vector_bytes, vector, vector_bytes);
	}
}

static void run(struct context *c, uint64_t n, uint64_t *check)
{
	const struct precision *p = chosen;
	const int right_sides = 1;
	(void)c;
	(void)check;
	for (uint64_t i = 0; i < n; i++) {
		char *a = matrices + i * matrix_bytes, *b = vectors + i * vector_bytes;
		int *pivot = pivots + i * (uint64_t)order;
		if (p->gesv != NULL) {
			p->gesv(&order, &right_sides, a, &lda, pivot, b, &order, &infos[i]);
		} else {
			p->factor(a, &lda, &order, pivot, &infos[i], p->axpy, p->scal, p->iamax);
			p->solve(a, &lda, &order, pivot, b, p->axpy);
		}
	}
}

/* Normalized residual. */
static double residual(const char *x)
{
	double largest = 0, unknown = 0, largest_element = 0;
	for (int i = 0; i < order; i++) {
		long double sum = -get(vector, (size_t)i);
		for (int j = 0; j < order; j++) {
			double element = get(matrix, (size_t)i + (size_t)j * (size_t)lda);
			sum += (long double)element * get(x, (size_t)j);
			largest_element = fmax(largest_element, element);
		}
		largest = fmax(largest, fabs((double)sum));
		unknown = fmax(unknown, fabs(get(x, (size_t)i)));
	}
	return largest / (order * largest_element * unknown * chosen->epsilon);
}

static void finish(struct context *c, uint64_t n, uint64_t *check)
{
	const double bound = BOUND * fmax(1, order / 1000.0); /* growth of rounding errors: 7 at 1,000, 21 at 4,000 */
	(void)c;
	for (uint64_t i = 0; i < n; i++)
		*check += infos[i] == 0 && residual(vectors + i * vector_bytes) <= bound; /* false for NaN */
}

static uint64_t expect(struct context *c, uint64_t n)
{
	(void)c;
	return n;
}
