/* byte/fcall-empty, byte/fcall-assign: cost of a function call (byte-1984, listing 3 and table 1).
 *
 * One operation is one iteration of a loop that passes its counter to a function that returns it (how=empty), or assigns the counter
 * without a call (how=assign). The difference is the cost of the call. The value is opaque in both, which prevents optimizers from removing
 * the assignment, inlining the call or keeping only the last iteration.
 */
#include <limits.h>
#include <string.h>

#include "../runtime/kernel.h"

static int with_call;

static SEPARATE unsigned int identity(unsigned int k)
{
	OPAQUE(k);
	return k;
}

static void setup(struct context *c)
{
	const char *how = parameter(c, "how", "");
	with_call = strcmp(how, "empty") == 0;
	if (!with_call && strcmp(how, "assign") != 0)
		wrong_arguments(c, "how=%s is neither empty nor assign", how);
}

static void run(struct context *c, uint64_t n, uint64_t *check)
{
	unsigned int j = 0, i = 0;
	if (n > UINT_MAX) {
		failed_because(c, "loop", "too many iterations for an unsigned int");
		return;
	}
	if (with_call) {
		for (; i < n; i++) {
			j = identity(i);
			OPAQUE(j);
		}
	} else {
		for (; i < n; i++) {
			j = i;
			OPAQUE(j);
		}
	}
	*check = (uint64_t)i + j;
}

/* n iterations, the last of which assigned n - 1 */
static uint64_t expect(struct context *c, uint64_t n)
{
	(void)c;
	return n + (n > 0 ? n - 1 : 0);
}

const struct kernel kernel = {.name = "byte/fcall", .setup = setup, .run = run, .expect = expect};
