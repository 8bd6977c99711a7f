/* byte/loop: increment and test of a long integer (byte-1984, listing 7 and table 1).
 *
 * One operation is one increment of a long and one test of it against the end. The listing is lost in the scan: that
 * the published work is 1,000,000 turns is an assumption, which the entry of the row says.
 */
#include "../runtime/kernel.h"

static void run(struct context *c, uint64_t n, uint64_t *check)
{
	long end = (long)n, i = 0;
	(void)c;
	while (i < end) {
		i++;
		OPAQUE(i); /* else the loop is replaced by its result */
	}
	*check = (uint64_t)i;
}

static uint64_t expect(struct context *c, uint64_t n)
{
	(void)c;
	return n;
}

const struct kernel kernel = {.name = "byte/loop", .run = run, .expect = expect};
