/* One chain, or eight independent ones, of 512 operations in 32 iterations of 16, for one type and one operator.
 *
 * Operands are in registers and opaque to the compiler (HIDE), which prevents constant folding, hoisting and vectorization; HIDE itself
 * emits no instruction.
 */
#ifndef GRITSTONE_AIM_ARITHMETIC_H
#define GRITSTONE_AIM_ARITHMETIC_H

#include "../runtime/kernel.h"

#define TURNS 32
#define PAIRS_A_TURN 8 /* pair: a step with y, and one with z */
#define CHAINS 8

/* Register class of floating-point numbers; on unknown processors the barrier goes through memory, which is noted. */
#if defined(__x86_64__) || defined(__SSE2_MATH__)
#define HIDE_FLOAT(x) __asm__ volatile("" : "+x"(x))
#elif defined(__aarch64__)
#define HIDE_FLOAT(x) __asm__ volatile("" : "+w"(x))
#elif (defined(__riscv) && defined(__riscv_flen) && __riscv_flen >= 64) || defined(__loongarch__) || defined(__s390x__)
#define HIDE_FLOAT(x) __asm__ volatile("" : "+f"(x))
#elif defined(__powerpc64__)
#define HIDE_FLOAT(x) __asm__ volatile("" : "+d"(x))
#else
#define FLOATS_GO_THROUGH_MEMORY
#define HIDE_FLOAT(x) __asm__ volatile("" : "+m"(x))
#endif

#define HIDE_INTEGER(x) OPAQUE(x)

#define STEP(T, HIDE, DO, x, y) \
	x = (T)DO(x, y);        \
	HIDE(x);

#define PAIR(T, HIDE, DO)     \
	STEP(T, HIDE, DO, a, y) \
	STEP(T, HIDE, DO, a, z)

#define ALL(T, HIDE, DO, y)     \
	STEP(T, HIDE, DO, a, y) \
	STEP(T, HIDE, DO, b, y) \
	STEP(T, HIDE, DO, c, y) \
	STEP(T, HIDE, DO, d, y) \
	STEP(T, HIDE, DO, e, y) \
	STEP(T, HIDE, DO, f, y) \
	STEP(T, HIDE, DO, g, y) \
	STEP(T, HIDE, DO, h, y)

/* Defines name_latency(n), one chain, and name_throughput(n), eight. Each returns the sum of the chains' values after every operation,
 * converted to U: integers below 2^53. */
#define DEFINE(name, T, U, HIDE, DO, START, Y, Z)                                                          \
	static uint64_t name##_latency(uint64_t n)                                                         \
	{                                                                                                  \
		T a = START, y = Y, z = Z;                                                                 \
		uint64_t sum = 0;                                                                          \
		HIDE(a);                                                                                   \
		HIDE(y);                                                                                   \
		HIDE(z);                                                                                   \
		for (uint64_t i = 0; i < n; i++) {                                                         \
			for (int turn = 0; turn < TURNS; turn++) {                                         \
				PAIR(T, HIDE, DO) PAIR(T, HIDE, DO) PAIR(T, HIDE, DO) PAIR(T, HIDE, DO)     \
				PAIR(T, HIDE, DO) PAIR(T, HIDE, DO) PAIR(T, HIDE, DO) PAIR(T, HIDE, DO)     \
			}                                                                                  \
			sum += (U)a;                                                                       \
		}                                                                                          \
		return sum;                                                                                \
	}                                                                                                  \
                                                                                                           \
	static uint64_t name##_throughput(uint64_t n)                                                      \
	{                                                                                                  \
		T a = START, b = a, c = a, d = a, e = a, f = a, g = a, h = a, y = Y, z = Z;                \
		uint64_t sum = 0;                                                                          \
		HIDE(y);                                                                                   \
		HIDE(z);                                                                                   \
		for (uint64_t i = 0; i < n; i++) {                                                         \
			for (int turn = 0; turn < TURNS; turn++) {                                         \
				ALL(T, HIDE, DO, y)                                                        \
				ALL(T, HIDE, DO, z)                                                        \
			}                                                                                  \
			sum += (uint64_t)(U)a + (U)b + (U)c + (U)d + (U)e + (U)f + (U)g + (U)h;            \
		}                                                                                          \
		return sum;                                                                                \
	}

#endif
