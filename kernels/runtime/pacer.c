/* The pacer: how long is a core cycle just now?
 *
 * A chain of register-to-register additions, each of which needs the one before, takes one cycle an addition on
 * every core we know. It is written in assembly because some cores fold add-immediate away at rename, and some
 * compilers fold whole chains. It sees the core's real frequency where a guest can read no counter.
 */
#include "runtime.h"

#define ADDITIONS_A_TURN 64
#define TURNS 2048 /* 131,072 cycles a chunk: about 30 us at 4 GHz */

#if defined(__x86_64__)
#define ADD "add %1, %0\n\t"
#elif defined(__aarch64__)
#define ADD "add %0, %0, %1\n\t"
#elif defined(__riscv) && __riscv_xlen == 64
#define ADD "add %0, %0, %1\n\t"
#endif

#define ADD4 ADD ADD ADD ADD
#define ADD16 ADD4 ADD4 ADD4 ADD4

static uint64_t chunk(void)
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

void pacer(uint64_t *ns_of_chunk)
{
	for (int i = 0; i < PACER_CHUNKS; i++)
		ns_of_chunk[i] = chunk();
}

/* The median: an interrupt or two in the readings must not move it. Sorts the readings. */
uint64_t pacer_femtoseconds(uint64_t *readings, int count)
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
