/* byte/loop: increment and test of a long integer (byte-1984, listing 7 and table 1).
 *
 * One operation is one increment of a long and one comparison with the end. The listing is illegible in the scan: 1,000,000 iterations as
 * the reference workload is an assumption, which the catalog entry states.
 */
#include "../runtime/kernel.h"

static void run(struct context *c, uint64_t n, uint64_t *check)
{
	long end = (long)n, i = 0;
	(void)c;
	while (i < end) {
		i++;
		OPAQUE(i); /* prevents replacing the loop by its result */
	}
	*check = (uint64_t)i;
}

static uint64_t expect(struct context *c, uint64_t n)
{
	(void)c;
	return n;
}

const struct kernel kernel = {.name = "byte/loop", .run = run, .expect = expect};
