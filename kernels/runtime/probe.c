/* Cycle probe: current duration of a core cycle; SMT probe: contention by the sibling thread.
 *
 * A chain of dependent register-to-register additions takes one cycle per addition on every known core. It is in assembly because some
 * cores eliminate add-immediate at rename, and some compilers fold whole chains. It measures the core's real frequency, also in guests
 * without counters.
 *
 * The same additions in eight independent chains use all issue slots of the core: no current core does more than eight additions per cycle.
 * A sibling thread does not slow down the single chain, but takes slots from the eight: the only way for a guest to detect SMT contention.
 *
 * Each probe takes the minimum of its readings, since interruptions only add. Of the probes before and after a region the larger SMT share
 * counts, since a sibling that started or stopped during the region was present for a part of it.
 */
#include "runtime.h"

#define ADDITIONS_PER_TURN 64
#define TURNS 1024 /* 65,536 cycles per chunk: about 16 us at 4 GHz */

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
		for (int i = 0; i < ADDITIONS_PER_TURN; i++) {
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
		for (int i = 0; i < ADDITIONS_PER_TURN / 8; i++) {
			a += y, b += y, c += y, d += y, e += y, f += y, g += y, h += y;
			__asm__ volatile(""
					 : "+r"(a), "+r"(b), "+r"(c), "+r"(d), "+r"(e), "+r"(f), "+r"(g), "+r"(h));
		}
#endif
	}
	return now_ns() - start;
}

/* Without the reading of the clock: 0.1 to 0.3 % by an instruction, 6 to 60 % where it traps or reads an HPET. */
static uint64_t femtoseconds_per_addition(uint64_t reading)
{
	uint64_t ps = reading * 1000, cost = clock_cost_ps();
	return (ps > cost ? ps - cost : ps) * 1000 / ((uint64_t)ADDITIONS_PER_TURN * TURNS);
}

void read_probe(struct probe *p)
{
	p->pace = p->wide = UINT64_MAX;
	for (int i = 0; i < PROBE_CHUNKS; i++) {
		uint64_t one = femtoseconds_per_addition(one_chain());
		uint64_t eight = femtoseconds_per_addition(eight_chains());
		p->pace = one < p->pace ? one : p->pace;
		p->wide = eight < p->wide ? eight : p->wide;
	}
}

struct probe combine_probes(const struct probe *before, const struct probe *after)
{
	struct probe both = {.pace = (before->pace + after->pace) / 2};
	const struct probe *shared = smt_share(before) > smt_share(after) ? before : after;
	both.wide = (uint64_t)(smt_share(shared) * (double)both.pace);
	return both;
}

double smt_share(const struct probe *p)
{
	return p->pace == 0 ? 0 : (double)p->wide / (double)p->pace;
}
