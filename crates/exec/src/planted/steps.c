/* So many instructions an operation, or ten more with more=1; with repeat=1 a string instruction of 1,000 repetitions instead. */
#include "../runtime/kernel.h"

static char bytes[1000];

static void run(struct context *c, uint64_t n, uint64_t *check)
{
	int more = parameter_u64(c, "more", 0) != 0, repeat = parameter_u64(c, "repeat", 0) != 0;
	for (uint64_t i = 0; i < n && repeat; i++) {
#ifdef __x86_64__
		void *to = bytes;
		uint64_t count = sizeof bytes;
		__asm__ volatile("rep stosb" : "+D"(to), "+c"(count) : "a"(0) : "memory");
#else
		__asm__ volatile("" : : "r"(bytes) : "memory");
#endif
		++*check;
	}
	for (uint64_t i = 0; i < n && !repeat; i++) {
		__asm__ volatile("nop\n nop\n nop\n");
		if (more)
			__asm__ volatile("nop\n nop\n nop\n nop\n nop\n nop\n nop\n nop\n nop\n nop\n");
		++*check;
	}
}

static uint64_t expect(struct context *c, uint64_t n)
{
	(void)c;
	return n;
}

const struct kernel kernel = {.name = "planted/steps", .run = run, .expect = expect};
