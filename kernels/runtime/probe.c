/* The cycle probe: how long is a core cycle just now, and is the core ours alone?
 *
 * A chain of register-to-register additions, each of which needs the one before, takes one cycle an addition on
 * every core we know. It is written in assembly because some cores fold add-immediate away at rename, and some
 * compilers fold whole chains. It sees the core's real frequency where a guest can read no counter.
 *
 * The same additions in four chains, which need not wait for each other, take as many of a cycle's places as the core
 * has. Another thread of the same core leaves the one chain alone and takes places from the four: only so does a
 * guest see that somebody else's work runs beside its own.
 */
#include "runtime.h"

#define ADDITIONS_A_TURN 64
#define TURNS 2048 /* 131,072 cycles a chunk: about 30 us at 4 GHz */

#if defined(__x86_64__)
#define ADD "add %1, %0\n\t"
#define ADD_CHAINS "add %4, %0\n\tadd %4, %1\n\tadd %4, %2\n\tadd %4, %3\n\t"
#elif defined(__aarch64__) || (defined(__riscv) && __riscv_xlen == 64)
#define ADD "add %0, %0, %1\n\t"
#define ADD_CHAINS "add %0, %0, %4\n\tadd %1, %1, %4\n\tadd %2, %2, %4\n\tadd %3, %3, %4\n\t"
#endif

#define FOUR(x) x x x x
#define ADD16 FOUR(ADD) FOUR(ADD) FOUR(ADD) FOUR(ADD)
#define ADD_CHAINS4 FOUR(ADD_CHAINS)

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

static uint64_t four_chains(void)
{
	uint64_t a = 1, b = 1, c = 1, d = 1, y = 3;
	uint64_t start = now_ns();
	for (int turn = 0; turn < TURNS; turn++) {
#ifdef ADD_CHAINS
		__asm__ volatile(ADD_CHAINS4 ADD_CHAINS4 ADD_CHAINS4 ADD_CHAINS4
				 : "+r"(a), "+r"(b), "+r"(c), "+r"(d)
				 : "r"(y));
#else
		for (int i = 0; i < ADDITIONS_A_TURN / 4; i++) {
			a += y, b += y, c += y, d += y;
			__asm__ volatile("" : "+r"(a), "+r"(b), "+r"(c), "+r"(d));
		}
#endif
	}
	return now_ns() - start;
}

void probe_before(struct probe *p)
{
	for (p->count = 0; p->count < PROBE_CHUNKS; p->count++) {
		p->one_chain[p->count] = one_chain();
		p->four_chains[p->count] = four_chains();
	}
}

/* The median: an interrupt or two in the readings must not move it. Sorts the readings. */
static uint64_t femtoseconds_an_addition(uint64_t *readings, int count)
{
	for (int i = 1; i < count; i++)
		for (int j = i; j > 0 && readings[j - 1] > readings[j]; j--) {
			uint64_t swap = readings[j];
			readings[j] = readings[j - 1];
			readings[j - 1] = swap;
		}
	uint64_t twice = readings[(count - 1) / 2] + readings[count / 2];
	return twice * 1000000 / (2 * (uint64_t)ADDITIONS_A_TURN * TURNS);
}

void probe_after(struct probe *p)
{
	struct probe after;
	probe_before(&after);
	for (int i = 0; i < PROBE_CHUNKS; i++, p->count++) {
		p->one_chain[p->count] = after.one_chain[i];
		p->four_chains[p->count] = after.four_chains[i];
	}
	p->pace = femtoseconds_an_addition(p->one_chain, p->count);
	p->wide = femtoseconds_an_addition(p->four_chains, p->count);
}
