/* mine/checksum: the checksum of our archive. One operation is one checksum of 4,096 bytes, which differ from time to time. */
#include "checksum.h"

#include "../runtime/kernel.h"

enum { WORDS = 2048 };

static uint16_t block[WORDS];

static void setup(struct context *c)
{
	(void)c;
	for (unsigned i = 0; i < WORDS; i++)
		block[i] = (uint16_t)(i * 40503 + 1);
}

static void run(struct context *c, uint64_t n, uint64_t *check)
{
	uint64_t sum = 0;
	(void)c;
	for (uint64_t i = 0; i < n; i++) {
		block[0] = (uint16_t)i;
		CLOBBER(); /* the block may have changed, and so must be read again */
		sum += checksum(block, WORDS);
	}
	*check = sum;
}

/* The same by the definition of the sum, without a trick: both halves modulo 65,535, word by word. */
static uint64_t by_definition(uint16_t first)
{
	uint64_t low = first % 65535, high = low;
	for (unsigned i = 1; i < WORDS; i++) {
		low = (low + block[i]) % 65535;
		high = (high + low) % 65535;
	}
	return high << 16 | low;
}

/* Only the first word differs, 65,536 values in turn: whole turns are one sum. */
static uint64_t expect(struct context *c, uint64_t n)
{
	static uint64_t turn[65537];
	(void)c;
	for (uint64_t i = 0; turn[65536] == 0 && i < 65536; i++)
		turn[i + 1] = turn[i] + by_definition((uint16_t)i);
	return n / 65536 * turn[65536] + turn[n % 65536];
}

const struct kernel kernel = {.name = "mine/checksum", .setup = setup, .run = run, .expect = expect};
