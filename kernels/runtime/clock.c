/* The clock of samples, its cost and its resolution. */
#define _GNU_SOURCE
#include <time.h>

#include "runtime.h"

uint64_t now_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC_RAW, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* The smallest observed step, since clock_getres may claim less. */
uint64_t clock_resolution_ns(void)
{
	uint64_t smallest = UINT64_MAX;
	for (int i = 0; i < 1000; i++) {
		uint64_t start = now_ns(), next = start;
		for (int spin = 0; next == start && spin < 1000000; spin++)
			next = now_ns();
		if (next > start && next - start < smallest)
			smallest = next - start;
	}
	/* the distance of two reads is an upper bound: it includes the cost of a read */
	struct timespec claimed;
	if (clock_getres(CLOCK_MONOTONIC_RAW, &claimed) == 0 && claimed.tv_sec == 0 && claimed.tv_nsec > 0 &&
	    (uint64_t)claimed.tv_nsec > smallest)
		smallest = (uint64_t)claimed.tv_nsec;
	return smallest;
}

/* Picoseconds per reading, measured once: the minimum of several rounds, since disturbances only add. */
uint64_t clock_cost_ps(void)
{
	static uint64_t best = UINT64_MAX;
	if (best != UINT64_MAX)
		return best;
	for (int round = 0; round < 16; round++) {
		uint64_t start = now_ns(), last = start;
		for (int i = 0; i < 256; i++)
			last = now_ns();
		uint64_t cost = (last - start) * 1000 / 256;
		if (cost < best)
			best = cost;
	}
	return best;
}

/* Length of a scheduler tick, the granularity of user and system time on many kernels. */
uint64_t tick_ns(void)
{
	struct timespec t;
	if (clock_getres(CLOCK_MONOTONIC_COARSE, &t) != 0)
		return 10000000;
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}
