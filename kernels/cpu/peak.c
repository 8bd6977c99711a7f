/* cpu/peak: the most floating point operations a second that this core does with the instructions that the program was compiled
 * for; the whole of which Linpack is a part.
 *
 * One operation is 196,608 multiplications and as many additions, in as many independent chains as hide the latency of the
 * units, in the widest vectors that the compiler was told of: fused where it was told that they can be. Factor and term
 * are ones that it does not know, so that every chain counts its own steps: the check value is their sum.
 */
#include <string.h>

#include "../runtime/kernel.h"

#if defined(__AVX512F__)
#define WIDTH 64
#elif defined(__AVX__)
#define WIDTH 32
#else
#define WIDTH 16
#endif
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
#define FUSED ", fused"
#else
#define FUSED ""
#endif

#define CHAINS 12
#define STEPS 16384 /* of all lanes of a chain together: counts stay exact in single precision */

#define real float
#define NAME(x) x##_single
#include "peak.h"
#undef real
#undef NAME

#define real double
#define NAME(x) x##_double
#include "peak.h"
#undef real
#undef NAME

static int single;

static void setup(struct context *c)
{
	const char *precision = parameter(c, "precision", "");
	single = strcmp(precision, "single") == 0;
	if (!single && strcmp(precision, "double") != 0)
		failed_because(c, "arguments", "precision=%s is neither single nor double", precision);
	note(c, "vectors", "%d bits%s", 8 * WIDTH, FUSED);
}

static void run(struct context *c, uint64_t n, uint64_t *check)
{
	float one = 1;
	double one_double = 1;
	(void)c;
	for (uint64_t i = 0; i < n; i++) {
		CLOBBER();
		__asm__ volatile("" : "+m"(one), "+m"(one_double));
		*check += single ? operation_single(&one, &one) : operation_double(&one_double, &one_double);
	}
}

static uint64_t expect(struct context *c, uint64_t n)
{
	(void)c;
	return n * CHAINS * STEPS;
}

const struct kernel kernel = {.name = "cpu/peak", .setup = setup, .run = run, .expect = expect};
