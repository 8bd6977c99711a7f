/* aim/array-ref: cost of nested array references (hp-1987, appendix A, tests 13 and 14; table 4.1, array subscript references).
 *
 * One operation is 512 nested references a[a[a[...]]], in 32 iterations of 16, into an array of short, long or int64 indexed by its own
 * type. Each reference depends on the inner one. The array maps i to 2i modulo the prime 509, of which 2 is a primitive root: the
 * references visit all elements but the first before they repeat, in irregular order, within the L1 cache.
 */
#include <string.h>

#include "../runtime/kernel.h"

#define PRIME 509
#define ROOT 2
#define TURNS 32
#define A_TURN 16

#define TWICE(x) x x
#define SIXTEEN(x) TWICE(TWICE(TWICE(TWICE(x))))

#define DEFINE(name, T)                                             \
	static T name##_array[PRIME];                               \
                                                                    \
	static void name##_fill(void)                               \
	{                                                           \
		for (int i = 0; i < PRIME; i++)                     \
			name##_array[i] = (T)(ROOT * i % PRIME);    \
	}                                                           \
                                                                    \
	static uint64_t name(uint64_t n)                            \
	{                                                           \
		T i = 1;                                            \
		for (uint64_t turns = n * TURNS; turns > 0; turns--) { \
			SIXTEEN(i = name##_array[i];)               \
		}                                                   \
		return (uint64_t)i;                                 \
	}

DEFINE(shorts, int16_t)
DEFINE(longs, int32_t)
DEFINE(int64s, int64_t)

static const struct {
	const char *type;
	void (*fill)(void);
	uint64_t (*work)(uint64_t n);
} programs[] = {
	{"short", shorts_fill, shorts},
	{"long", longs_fill, longs},
	{"int64", int64s_fill, int64s},
};
#define PROGRAMS (sizeof programs / sizeof *programs)

static size_t chosen;

static void setup(struct context *c)
{
	const char *type = parameter(c, "type", "");
	while (chosen < PROGRAMS && strcmp(programs[chosen].type, type) != 0)
		chosen++;
	if (chosen == PROGRAMS)
		wrong_arguments(c, "type=%s is not short, long or int64", type);
	programs[chosen].fill();
	CLOBBER(); /* hides the contents from the compiler */
}

static void run(struct context *c, uint64_t n, uint64_t *check)
{
	(void)c;
	*check = programs[chosen].work(n);
}

/* Root to the power of the number of references, by squaring. */
static uint64_t expect(struct context *c, uint64_t n)
{
	uint64_t result = 1;
	(void)c;
	for (uint64_t square = ROOT, power = n * TURNS * A_TURN; power > 0; power /= 2, square = square * square % PRIME)
		if (power % 2 == 1)
			result = result * square % PRIME;
	return result;
}

const struct kernel kernel = {.name = "aim/array-ref", .setup = setup, .run = run, .expect = expect};
