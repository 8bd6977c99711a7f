/* Common part of cpu/whetstone (Fortran) and cpu/whetstone-c: module weights, expected results, and the hooks.
 *
 * One operation is one loop of the program: every module as often as Curnow and Wichmann (1976) weight it for a million Whetstone
 * instructions. The expected results are computed here independently, in long double precision; the published double precision output
 * agrees to its five printed digits. The check value is the number of loops with correct results in all modules.
 */
#include <math.h>
#include <string.h>

#include "../runtime/kernel.h"

#define MODULES 11

typedef void call_p0(void);
typedef void call_p3(const void *x, const void *y, void *z);
typedef void call_pa(void *e);
typedef void whetstone(const int weight[MODULES], const double constant[3], const int *one, double out[MODULES][4],
		       call_p0 *, call_p3 *, call_pa *);

/* The routines of one precision. */
struct precision {
	const char *name;
	double tolerance; /* of each result, relative to the larger of it and 1 */
	whetstone *loop;
	call_p0 *p0;
	call_p3 *p3;
	call_pa *pa;
};

static double constant[3] = {0.499975, 0.50025, 2.0};

static const struct precision *chosen;
static int weight[MODULES] = {0, 120, 140, 3450, 0, 2100, 320, 8990, 6160, 0, 930};
static int one = 1;
static double expected[MODULES][4];

/* Transformation of modules 1 to 3: each element becomes a sum with one sign changed, times t or over t2. */
static void mix(long double e[4], long double last)
{
	const long double t = constant[0];
	e[0] = (e[0] + e[1] + e[2] - e[3]) * t;
	e[1] = (e[0] + e[1] - e[2] + e[3]) * t;
	e[2] = (e[0] - e[1] + e[2] + e[3]) * t;
	e[3] = (-e[0] + e[1] + e[2] + e[3]) * last;
}

static void set_expected(int module, long double a, long double b, long double c, long double d)
{
	const long double row[4] = {a, b, c, d};
	for (int i = 0; i < 4; i++)
		expected[module - 1][i] = (double)row[i];
}

static void compute_expected(void)
{
	const long double t = constant[0], t1 = constant[1], t2 = constant[2];
	long double e[4] = {1, -1, -1, -1}, x = 0.5L, y = 0.5L, z = 0.75L;
	set_expected(1, 1, -1, -1, -1); /* weight 0 */
	for (int i = 0; i < weight[1]; i++)
		mix(e, t);
	set_expected(2, e[0], e[1], e[2], e[3]);
	for (int i = 0; i < 6 * weight[2]; i++)
		mix(e, 1 / t2);
	set_expected(3, e[0], e[1], e[2], e[3]);
	set_expected(4, weight[3] % 2 == 0, 0, 0, 0); /* an iteration exchanges 0 and 1 */
	set_expected(6, 321, 6, 6, 0);                /* 1, 2 and 3 are reproduced, with sum and product 6 */
	for (int i = 0; i < weight[6]; i++) {
		x = t * atanl(t2 * sinl(x) * cosl(x) / (cosl(x + y) + cosl(x - y) - 1));
		y = t * atanl(t2 * sinl(y) * cosl(y) / (cosl(x + y) + cosl(x - y) - 1));
	}
	set_expected(7, x, y, 0, 0);
	set_expected(8, 1, 1, (2 * t + t * (2 * t + 1)) / t2, 0);
	set_expected(9, 3, 2, 3, 0); /* 1, 2, 3 becomes 2, 3, 2 and then 3, 2, 3 alternately */
	set_expected(10, 2, 3, 0, 0);
	for (int i = 0; i < weight[10]; i++)
		z = sqrtl(expl(logl(z) / t1));
	set_expected(11, z, 0, 0, 0);
}

static void select_precision(struct context *c, const struct precision *all, int count)
{
	const char *name = parameter(c, "precision", "");
	for (int i = 0; i < count; i++)
		if (strcmp(name, all[i].name) == 0)
			chosen = &all[i];
	if (chosen == NULL)
		wrong_arguments(c, "precision=%s is neither single nor double", name);
	compute_expected();
}

static int is_correct(double out[MODULES][4])
{
	for (int module = 0; module < MODULES; module++)
		for (int i = 0; i < 4; i++) {
			double value = expected[module][i];
			if (!(fabs(out[module][i] - value) <= chosen->tolerance * fmax(1, fabs(value))))
				return 0;
		}
	return 1;
}

static void run(struct context *c, uint64_t n, uint64_t *check)
{
	call_p0 *p0 = chosen->p0;
	call_p3 *p3 = chosen->p3;
	call_pa *pa = chosen->pa;
	double out[MODULES][4];
	(void)c;
	for (uint64_t i = 0; i < n; i++) {
		OPAQUE(p0);
		OPAQUE(p3);
		OPAQUE(pa);
		CLOBBER();
		chosen->loop(weight, constant, &one, out, p0, p3, pa);
		*check += (uint64_t)is_correct(out);
	}
}

static uint64_t expect(struct context *c, uint64_t n)
{
	(void)c;
	return n;
}
