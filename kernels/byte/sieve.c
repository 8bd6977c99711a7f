/* byte/sieve: the Sieve of Eratosthenes (byte-1984, listing 4 and table 1).
 *
 * One operation is one pass over 8,191 flags for the odd numbers from 3 to 16,383: set all, then for each flag still set count a prime and
 * clear its odd multiples. A pass finds 1,899 primes; the reference workload is ten passes.
 */
#include "../runtime/kernel.h"

#define SIZE 8190
#define PRIMES 1899

static char flags[SIZE + 1];

static unsigned pass(void)
{
	unsigned count = 0;
	for (unsigned i = 0; i <= SIZE; i++)
		flags[i] = 1;
	for (unsigned i = 0; i <= SIZE; i++) {
		if (!flags[i])
			continue;
		unsigned prime = 2 * i + 3;
		for (unsigned k = i + prime; k <= SIZE; k += prime)
			flags[k] = 0;
		count++;
	}
	return count;
}

static void run(struct context *c, uint64_t n, uint64_t *check)
{
	uint64_t primes = 0;
	(void)c;
	for (uint64_t i = 0; i < n; i++) {
		primes += pass();
		CLOBBER(); /* hides the flags from the compiler */
	}
	*check = primes;
}

static uint64_t expect(struct context *c, uint64_t n)
{
	(void)c;
	return n * PRIMES;
}

const struct kernel kernel = {.name = "byte/sieve", .run = run, .expect = expect};
