/* Planted: asks for its number once, and from then on tells what it remembers, as some C libraries did. */
#include <unistd.h>
#include "../runtime/kernel.h"
static pid_t number;
static pid_t cached_getpid(void)
{
	OPAQUE(number);
	if (number == 0)
		number = getpid();
	return number;
}
static void run(struct context *c, uint64_t n, uint64_t *check)
{
	uint64_t sum = 0;
	(void)c;
	for (uint64_t i = 0; i < n; i++)
		sum += (uint64_t)cached_getpid();
	*check = sum;
}
static uint64_t expect(struct context *c, uint64_t n) { (void)c; return n * (uint64_t)getpid(); }
const struct kernel kernel = {.name = "planted/cached", .run = run, .expect = expect};
