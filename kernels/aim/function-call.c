/* aim/function-call: cost of a function call with 0, 1 and 2 int parameters (hp-1987, appendix A, tests 15 to 17; table 4.1, function
 * references).
 *
 * One operation is 512 calls, in 32 iterations of 16, of a function that returns its last argument, or a constant if it has none.
 * Arguments, results and the function body are opaque to the compiler, so that every call passes its arguments, branches and returns.
 */
#include "../runtime/kernel.h"

#define TURNS 32
#define A_TURN 16
#define NUMBER 7

SEPARATE static int with_none(void)
{
	int result = NUMBER;
	OPAQUE(result);
	return result;
}

SEPARATE static int with_one(int a)
{
	OPAQUE(a);
	return a;
}

SEPARATE static int with_two(int a, int b)
{
	OPAQUE(a);
	OPAQUE(b);
	return b;
}

#define TWICE(x) x x
#define SIXTEEN(x) TWICE(TWICE(TWICE(TWICE(x))))

/* The results of one iteration fit into an int. */
#define DEFINE(name, call)                                    \
	static uint64_t name(uint64_t n)                      \
	{                                                     \
		uint64_t sum = 0;                             \
		for (uint64_t i = 0; i < n; i++)              \
			for (int turn = 0; turn < TURNS; turn++) { \
				int a = turn, b = turn + 1, got = 0; \
				OPAQUE(a);                    \
				OPAQUE(b);                    \
				SIXTEEN(got += call;)         \
				sum += (uint64_t)got;         \
			}                                     \
		return sum;                                   \
	}

DEFINE(none, ((void)a, (void)b, with_none()))
DEFINE(one, ((void)b, with_one(a)))
DEFINE(two, with_two(a, b))

static uint64_t (*const work[])(uint64_t n) = {none, one, two};
static uint64_t parameters;

static void setup(struct context *c)
{
	parameters = parameter_u64(c, "parameters", 0);
	if (parameters > 2)
		wrong_arguments(c, "parameters=%u is not 0, 1 or 2", (unsigned)parameters);
}

static void run(struct context *c, uint64_t n, uint64_t *check)
{
	(void)c;
	*check = work[parameters](n);
}

static uint64_t expect(struct context *c, uint64_t n)
{
	const uint64_t of_an_operation[] = {
		TURNS * A_TURN * NUMBER,                 /* NUMBER per call */
		A_TURN * (TURNS * (TURNS - 1) / 2),      /* 0 to 31 */
		A_TURN * (TURNS * (TURNS + 1) / 2),      /* 1 to 32 */
	};
	(void)c;
	return n * of_an_operation[parameters];
}

const struct kernel kernel = {.name = "aim/function-call", .setup = setup, .run = run, .expect = expect};
