/* aim/add, aim/multiply, aim/divide: cost of arithmetic operators (hp-1987, appendix A, tests 10 to 12, 27 to 32, 34, 35, 37; table 4.1,
 * arithmetic instruction times).
 *
 * One operation is 512 steps x = x + y, x = x * y or x = y / x (op=add, multiply, divide) of one type: short and long have their original
 * 16 and 32 bits; int64 is not in the original. With chains=1 each step depends on its predecessor, which measures latency; with chains=8
 * there are eight independent chains, which measures throughput.
 *
 * Integer addition and multiplication wrap around; integer steps divide the product of two factors by x, so that x alternates between the
 * factors: quotients have half the digits of the type. Floating-point x alternates between 7 and 10, in divisions between 7 and 10/7: the exact
 * results are not representable, and IEEE rounding restores 10 and 7.
 */
#include <string.h>

#include "arithmetic.h"

/* Unsigned arithmetic, where wraparound is defined; the conversion back to a signed type wraps in all known compilers. */
#define ADD_32(x, y) ((uint32_t)(x) + (uint32_t)(y))
#define ADD_64(x, y) ((uint64_t)(x) + (uint64_t)(y))
#define MULTIPLY_32(x, y) ((uint32_t)(x) * (uint32_t)(y))
#define MULTIPLY_64(x, y) ((uint64_t)(x) * (uint64_t)(y))
#define DIVIDE_INTO(x, y) ((y) / (x))
#define ADD(x, y) ((x) + (y))
#define MULTIPLY(x, y) ((x) * (y))

#define START 7
#define Y 3 /* both odd, so that products keep all bits */
#define Z 5
#define SHORT 181 /* the product of the factors just fits into the type */
#define SHORT_PRODUCT (181 * 179)
#define LONG 46337
#define LONG_PRODUCT (46337 * 46327)
#define INT64 3037000493
#define INT64_PRODUCT (3037000493 * INT64_C(3037000453))

DEFINE(add_short, int16_t, uint16_t, HIDE_INTEGER, ADD_32, START, Y, Z)
DEFINE(add_long, int32_t, uint32_t, HIDE_INTEGER, ADD_32, START, Y, Z)
DEFINE(add_int64, int64_t, uint64_t, HIDE_INTEGER, ADD_64, START, Y, Z)
DEFINE(add_float, float, uint64_t, HIDE_FLOAT, ADD, START, 3, -3)
DEFINE(add_double, double, uint64_t, HIDE_FLOAT, ADD, START, 3, -3)
DEFINE(multiply_short, int16_t, uint16_t, HIDE_INTEGER, MULTIPLY_32, START, Y, Z)
DEFINE(multiply_long, int32_t, uint32_t, HIDE_INTEGER, MULTIPLY_32, START, Y, Z)
DEFINE(multiply_int64, int64_t, uint64_t, HIDE_INTEGER, MULTIPLY_64, START, Y, Z)
DEFINE(multiply_float, float, uint64_t, HIDE_FLOAT, MULTIPLY, START, 10.0f / 7.0f, 0.7f)
DEFINE(multiply_double, double, uint64_t, HIDE_FLOAT, MULTIPLY, START, 10.0 / 7.0, 0.7)
DEFINE(divide_short, int16_t, uint16_t, HIDE_INTEGER, DIVIDE_INTO, SHORT, SHORT_PRODUCT, SHORT_PRODUCT)
DEFINE(divide_long, int32_t, uint32_t, HIDE_INTEGER, DIVIDE_INTO, LONG, LONG_PRODUCT, LONG_PRODUCT)
DEFINE(divide_int64, int64_t, uint64_t, HIDE_INTEGER, DIVIDE_INTO, INT64, INT64_PRODUCT, INT64_PRODUCT)
DEFINE(divide_float, float, uint64_t, HIDE_FLOAT, DIVIDE_INTO, START, 10, 10)
DEFINE(divide_double, double, uint64_t, HIDE_FLOAT, DIVIDE_INTO, START, 10, 10)

typedef uint64_t chain(uint64_t n);

/* Effect of two steps on x. */
enum pair { RETURNS, ADDS, MULTIPLIES };

static const struct {
	const char *op, *type;
	chain *latency, *throughput;
	uint64_t start;
	enum pair pair;
	int bits;
} programs[] = {
	{"add", "short", add_short_latency, add_short_throughput, START, ADDS, 16},
	{"add", "long", add_long_latency, add_long_throughput, START, ADDS, 32},
	{"add", "int64", add_int64_latency, add_int64_throughput, START, ADDS, 64},
	{"add", "float", add_float_latency, add_float_throughput, START, RETURNS, 64},
	{"add", "double", add_double_latency, add_double_throughput, START, RETURNS, 64},
	{"multiply", "short", multiply_short_latency, multiply_short_throughput, START, MULTIPLIES, 16},
	{"multiply", "long", multiply_long_latency, multiply_long_throughput, START, MULTIPLIES, 32},
	{"multiply", "int64", multiply_int64_latency, multiply_int64_throughput, START, MULTIPLIES, 64},
	{"multiply", "float", multiply_float_latency, multiply_float_throughput, START, RETURNS, 64},
	{"multiply", "double", multiply_double_latency, multiply_double_throughput, START, RETURNS, 64},
	{"divide", "short", divide_short_latency, divide_short_throughput, SHORT, RETURNS, 64},
	{"divide", "long", divide_long_latency, divide_long_throughput, LONG, RETURNS, 64},
	{"divide", "int64", divide_int64_latency, divide_int64_throughput, INT64, RETURNS, 64},
	{"divide", "float", divide_float_latency, divide_float_throughput, START, RETURNS, 64},
	{"divide", "double", divide_double_latency, divide_double_throughput, START, RETURNS, 64},
};
#define PROGRAMS (sizeof programs / sizeof *programs)

static size_t chosen;
static uint64_t chains;
static chain *work;

static void setup(struct context *c)
{
	const char *op = parameter(c, "op", ""), *type = parameter(c, "type", "");
	chains = parameter_u64(c, "chains", 1);
	while (chosen < PROGRAMS && (strcmp(programs[chosen].op, op) != 0 || strcmp(programs[chosen].type, type) != 0))
		chosen++;
	if (chosen == PROGRAMS)
		wrong_arguments(c, "op=%s type=%s: the first is add, multiply or divide, the second short, long, int64, float or double", op, type);
	if (chains != 1 && chains != CHAINS)
		wrong_arguments(c, "chains=%u is neither 1 nor %d", (unsigned)chains, CHAINS);
	work = chains == 1 ? programs[chosen].latency : programs[chosen].throughput;
#ifdef FLOATS_GO_THROUGH_MEMORY
	note(c, "floats", "through memory: the registers of this processor are unknown");
#endif
}

static void run(struct context *c, uint64_t n, uint64_t *check)
{
	(void)c;
	*check = work(n);
}

/* Closed form of one operation's pairs, applied n times. */
static uint64_t expect(struct context *c, uint64_t n)
{
	uint64_t mask = UINT64_MAX >> (64 - programs[chosen].bits), pairs = TURNS * PAIRS_A_TURN / chains;
	uint64_t x = programs[chosen].start, factor = 1, sum = 0;
	(void)c;
	for (uint64_t square = Y * Z, power = pairs; power > 0; power /= 2, square *= square)
		if (power % 2 == 1)
			factor *= square;
	for (uint64_t i = 0; i < n; i++) {
		if (programs[chosen].pair == MULTIPLIES)
			x = x * factor & mask;
		else if (programs[chosen].pair == ADDS)
			x = (x + pairs * (Y + Z)) & mask;
		sum += chains * x;
	}
	return sum;
}

const struct kernel kernel = {.name = "aim/arithmetic", .setup = setup, .run = run, .expect = expect};
