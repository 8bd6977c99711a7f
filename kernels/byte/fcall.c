/* byte/fcall-empty, byte/fcall-assign: what a function call costs (byte-1984, listing 3 and table 1).
 *
 * One operation is one turn of a loop that hands its counter to a function which returns its argument (how=empty),
 * or that assigns the counter without a call (how=assign). The difference of the two is the call. The value is made
 * opaque in both, so that no optimizer removes the assignment, inlines the call or keeps only the last turn.
 */
#include <limits.h>
#include <string.h>

#include "../runtime/kernel.h"

static int with_call;

static SEPARATE unsigned int same(unsigned int k)
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
		failed_because(c, "loop", "an unsigned int does not count so far");
		return;
	}
	if (with_call) {
		for (; i < n; i++) {
			j = same(i);
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

/* n turns, the last of which assigned n - 1 */
static uint64_t expect(struct context *c, uint64_t n)
{
	(void)c;
	return n + (n > 0 ? n - 1 : 0);
}

const struct kernel kernel = {.name = "byte/fcall", .setup = setup, .run = run, .expect = expect};
