/* byte/fcall-empty, byte/fcall-assign: what a function call costs (byte-1984, listing 3 and table 1).
 *
 * One operation is one turn of a loop that hands its counter to a function which returns its argument (how=empty),
 * or that assigns the counter without a call (how=assign). The difference of the two is the call. The value is made
 * opaque in both, so that no optimizer removes the assignment, inlines the call or keeps only the last turn.
 */
#include <string.h>

#include "../runtime/kernel.h"

static int with_call;

static SEPARATE unsigned long same(unsigned long k)
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
	unsigned long j = 0, turns = 0;
	(void)c;
	if (with_call) {
		for (unsigned long i = 0; i < n; i++) {
			j = same(i);
			OPAQUE(j);
			turns++;
		}
	} else {
		for (unsigned long i = 0; i < n; i++) {
			j = i;
			OPAQUE(j);
			turns++;
		}
	}
	*check = turns + j;
}

/* n turns, the last of which assigned n - 1 */
static uint64_t expect(struct context *c, uint64_t n)
{
	(void)c;
	return n + (n > 0 ? n - 1 : 0);
}

const struct kernel kernel = {.name = "byte/fcall", .setup = setup, .run = run, .expect = expect};
