/* cpu/peak: peak floating-point rate of a core, the reference for Linpack.
 *
 * One operation is 196,608 multiplications and as many additions, in enough independent chains to hide latency, fused where supported.
 * vectors=widest (default) uses the widest vectors of this core; vectors=compiled those of the compiler's target. Factor and term are ones,
 * opaque to the compiler, so that every chain counts its steps: the check value is their sum.
 */
#include <string.h>

#include "../runtime/kernel.h"

#define CHAINS 12
#define STEPS 16384 /* over all lanes of a chain: counts stay exact in single precision */

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
#define FOR
#define COMPILED_BITS (8 * WIDTH)

#define real float
#define NAME(x) x##_single
#include "peak.h"
#define real double
#define NAME(x) x##_double
#include "peak.h"

static const struct width {
	int bits;
	const char *fused;
	uint64_t (*in_single)(const float *, const float *);
	uint64_t (*in_double)(const double *, const double *);
} compiled = {COMPILED_BITS, FUSED, operation_single, operation_double};

#undef WIDTH
#undef FOR

#if defined(__x86_64__)
#define WIDTH 32
#define FOR __attribute__((target("avx2,fma")))
#define real float
#define NAME(x) x##_single_256
#include "peak.h"
#define real double
#define NAME(x) x##_double_256
#include "peak.h"
#undef WIDTH
#undef FOR

#define WIDTH 64
#define FOR __attribute__((target("avx512f,fma")))
#define real float
#define NAME(x) x##_single_512
#include "peak.h"
#define real double
#define NAME(x) x##_double_512
#include "peak.h"

static const struct width wide = {256, ", fused", operation_single_256, operation_double_256};
static const struct width wider = {512, ", fused", operation_single_512, operation_double_512};

/* Cores that split 512-bit vectors into halves are not slower with them. */
static const struct width *widest(void)
{
	if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("fma"))
		return &wider;
	return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? &wide : &compiled;
}
#else
static const struct width *widest(void)
{
	return &compiled; /* on other architectures the baseline has vectors and fused operations */
}
#endif

static int single;
static const struct width *chosen;

static void setup(struct context *c)
{
	const char *precision = parameter(c, "precision", ""), *vectors = parameter(c, "vectors", "widest");
	single = strcmp(precision, "single") == 0;
	if (!single && strcmp(precision, "double") != 0)
		wrong_arguments(c, "precision=%s is neither single nor double", precision);
	if (strcmp(vectors, "widest") != 0 && strcmp(vectors, "compiled") != 0)
		wrong_arguments(c, "vectors=%s is neither widest nor compiled", vectors);
	chosen = strcmp(vectors, "compiled") == 0 ? &compiled : widest();
	note(c, "measured", "vectors of %d bits%s", chosen->bits, chosen->fused);
}

static void run(struct context *c, uint64_t n, uint64_t *check)
{
	float one = 1;
	double one_double = 1;
	(void)c;
	for (uint64_t i = 0; i < n; i++) {
		CLOBBER();
		__asm__ volatile("" : "+m"(one), "+m"(one_double));
		*check += single ? chosen->in_single(&one, &one) : chosen->in_double(&one_double, &one_double);
	}
}

static uint64_t expect(struct context *c, uint64_t n)
{
	(void)c;
	return n * CHAINS * STEPS;
}

const struct kernel kernel = {.name = "cpu/peak", .setup = setup, .run = run, .expect = expect};
