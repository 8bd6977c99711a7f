/* CPUs of processes and threads on machines of any size: cpu_set_t has 1,024 bits, and a kernel for more CPUs refuses such a mask. Needs
 * _GNU_SOURCE. Independent of the runtime. */
#ifndef GRITSTONE_RUNTIME_CPUS_H
#define GRITSTONE_RUNTIME_CPUS_H

#include <sched.h>
#include <string.h>

enum { NR_CPUS = 8192 }; /* the largest that Linux is built with */

struct cpu_mask {
	cpu_set_t part[NR_CPUS / CPU_SETSIZE];
};

static inline struct cpu_mask mask_of_cpu(int cpu)
{
	struct cpu_mask mask;
	memset(&mask, 0, sizeof mask);
	CPU_SET_S((size_t)cpu, sizeof mask, mask.part);
	return mask;
}

/* Pins the calling thread. Returns -1 with errno on failure. */
static inline int pin_to_cpu(int cpu)
{
	const struct cpu_mask mask = mask_of_cpu(cpu);
	return sched_setaffinity(0, sizeof mask, mask.part);
}

/* Fills an array of NR_CPUS with the CPUs that this thread may use, in order. Returns their number, -1 with errno on failure. */
static inline int permitted_cpus(int *cpus)
{
	struct cpu_mask mask;
	int count = 0;
	memset(&mask, 0, sizeof mask);
	if (sched_getaffinity(0, sizeof mask, mask.part) != 0)
		return -1;
	for (int cpu = 0; cpu < NR_CPUS; cpu++)
		if (CPU_ISSET_S((size_t)cpu, sizeof mask, mask.part))
			cpus[count++] = cpu;
	return count;
}

#endif
