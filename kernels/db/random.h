/* Pseudorandom numbers from a seed: splitmix64. */
#ifndef GRITSTONE_DB_RANDOM_H
#define GRITSTONE_DB_RANDOM_H

#include <stdint.h>

static uint64_t random_state;

/* 0 to end - 1. */
static inline int random_below(int end)
{
	uint64_t z = random_state += UINT64_C(0x9e3779b97f4a7c15);
	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return (int)((z ^ (z >> 31)) % (uint64_t)end);
}

static inline int random_from_1(int last) { return random_below(last) + 1; }

#endif
