/* The cycle probe: how long is a core cycle just now, and is the core ours alone?
 *
 * A chain of register-to-register additions, each of which needs the one before, takes one cycle an addition on
 * every core we know. It is written in assembly because some cores fold add-immediate away at rename, and some
 * compilers fold whole chains. It sees the core's real frequency where a guest can read no counter.
 *
 * The same additions in eight chains, which need not wait for each other, take as many of a cycle's places as the core
 * has: no core of today adds more than eight times a cycle. Another thread of the same core leaves the one chain alone and takes
 * places from the eight: only so does a guest see that somebody else's work runs beside its own.
 *
 * Of each the shortest reading on a side counts: whatever interrupts a reading only adds to it. Of both sides of a region the larger share
 * counts: a neighbor that came or went during the region was there for a part of it.
 */
#include "runtime.h"

#define ADDITIONS_A_TURN 64
#define TURNS 1024 /* 65,536 cycles a chunk: about 16 us at 4 GHz */

#if defined(__x86_64__)
#define ADD "add %1, %0\n\t"
#define ADD_CHAINS                                                                                                     \
	"add %8, %0\n\tadd %8, %1\n\tadd %8, %2\n\tadd %8, %3\n\t"                                                          \
	"add %8, %4\n\tadd %8, %5\n\tadd %8, %6\n\tadd %8, %7\n\t"
#elif defined(__aarch64__) || (defined(__riscv) && __riscv_xlen == 64)
#define ADD "add %0, %0, %1\n\t"
#define ADD_CHAINS                                                                                                     \
	"add %0, %0, %8\n\tadd %1, %1, %8\n\tadd %2, %2, %8\n\tadd %3, %3, %8\n\t"                                          \
	"add %4, %4, %8\n\tadd %5, %5, %8\n\tadd %6, %6, %8\n\tadd %7, %7, %8\n\t"
#endif

#define FOUR(x) x x x x
#define ADD16 FOUR(ADD) FOUR(ADD) FOUR(ADD) FOUR(ADD)

static uint64_t one_chain(void)
{
	uint64_t x = 1, y = 3;
	uint64_t start = now_ns();
	for (int turn = 0; turn < TURNS; turn++) {
#ifdef ADD
		__asm__ volatile(ADD16 ADD16 ADD16 ADD16 : "+r"(x) : "r"(y));
#else
		for (int i = 0; i < ADDITIONS_A_TURN; i++) {
			x += y;
			OPAQUE(x);
		}
#endif
	}
	return now_ns() - start;
}

static uint64_t eight_chains(void)
{
	uint64_t a = 1, b = 1, c = 1, d = 1, e = 1, f = 1, g = 1, h = 1, y = 3;
	uint64_t start = now_ns();
	for (int turn = 0; turn < TURNS; turn++) {
#ifdef ADD_CHAINS
		__asm__ volatile(FOUR(ADD_CHAINS) FOUR(ADD_CHAINS)
				 : "+r"(a), "+r"(b), "+r"(c), "+r"(d), "+r"(e), "+r"(f), "+r"(g), "+r"(h)
				 : "r"(y));
#else
		for (int i = 0; i < ADDITIONS_A_TURN / 8; i++) {
			a += y, b += y, c += y, d += y, e += y, f += y, g += y, h += y;
			__asm__ volatile(""
					 : "+r"(a), "+r"(b), "+r"(c), "+r"(d), "+r"(e), "+r"(f), "+r"(g), "+r"(h));
		}
#endif
	}
	return now_ns() - start;
}

static uint64_t femtoseconds_an_addition(uint64_t reading)
{
	return reading * 1000000 / ((uint64_t)ADDITIONS_A_TURN * TURNS);
}

void read_probe(struct probe *p)
{
	p->pace = p->wide = UINT64_MAX;
	for (int i = 0; i < PROBE_CHUNKS; i++) {
		uint64_t one = femtoseconds_an_addition(one_chain());
		uint64_t eight = femtoseconds_an_addition(eight_chains());
		p->pace = one < p->pace ? one : p->pace;
		p->wide = eight < p->wide ? eight : p->wide;
	}
}

struct probe of_both_sides(const struct probe *before, const struct probe *after)
{
	struct probe both = {.pace = (before->pace + after->pace) / 2};
	const struct probe *shared = wide_share(before) > wide_share(after) ? before : after;
	both.wide = (uint64_t)(wide_share(shared) * (double)both.pace);
	return both;
}

double wide_share(const struct probe *p)
{
	return p->pace == 0 ? 0 : (double)p->wide / (double)p->pace;
}
