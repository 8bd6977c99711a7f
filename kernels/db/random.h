/* Numbers at random from a seed: splitmix64. */
#ifndef GRITSTONE_DB_RANDOM_H
#define GRITSTONE_DB_RANDOM_H

#include <stdint.h>

static uint64_t random_state;

/* A number from 0 below `end`. */
static inline int drawn(int end)
{
	uint64_t z = random_state += UINT64_C(0x9e3779b97f4a7c15);
	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return (int)((z ^ (z >> 31)) % (uint64_t)end);
}

static inline int from_one_to(int last) { return drawn(last) + 1; }

#endif
