/* Swap requirements of a workload, and counts of pages swapped in and out.
 *
 * /proc/vmstat counts for the whole machine. The run's own swap file has lower priority than the machine's, so that with free memory no
 * other process swaps to it.
 */
#ifndef GRITSTONE_VM_SWAPPED_H
#define GRITSTONE_VM_SWAPPED_H

#include <stdio.h>
#include <string.h>

#include "../runtime/kernel.h"

static struct {
	uint64_t ins, outs;
} swap_before, swapped; /* at the start of a timed region; sum over all of them */
static uint64_t swap_operations;

/* Skips the benchmark without a memory limit or a swap file, and returns 0: by confined=, and the reason in unconfined= or unswapped=. */
static int require_swap(struct context *c)
{
	const char *why = parameter(c, "unswapped", NULL);
	if (strcmp(parameter(c, "confined", "no"), "yes") != 0)
		skip(c, "Swapping anonymous memory requires a control group that limits memory, and there is none (%s).",
		     parameter(c, "unconfined", "none was made"));
	else if (why != NULL)
		skip(c, "Swapping anonymous memory requires a swap file, and there is none (%s); run as root on a disk with space for one.", why);
	else
		return 1;
	return 0;
}

static void count_swap(struct context *c, uint64_t *ins, uint64_t *outs)
{
	char name[64];
	unsigned long long value;
	int found = 0;
	FILE *counters = fopen("/proc/vmstat", "re");
	while (counters != NULL && fscanf(counters, "%63s %llu", name, &value) == 2) {
		uint64_t *into = strcmp(name, "pswpin") == 0 ? ins : strcmp(name, "pswpout") == 0 ? outs : NULL;
		if (into == NULL)
			continue;
		*into = value;
		found++;
	}
	if (counters != NULL)
		fclose(counters);
	if (found != 2)
		failed_because(c, "vmstat", "/proc/vmstat does not count swapped pages");
}

static void begin_swap_count(struct context *c)
{
	count_swap(c, &swap_before.ins, &swap_before.outs);
}

static void end_swap_count(struct context *c, uint64_t n)
{
	uint64_t ins = 0, outs = 0;
	count_swap(c, &ins, &outs);
	swapped.ins += ins - swap_before.ins;
	swapped.outs += outs - swap_before.outs;
	swap_operations += n;
}

/* Per operation. */
static void note_swapped(struct context *c)
{
	if (swap_operations == 0)
		return;
	note(c, "page_ins", "%.1f", (double)swapped.ins / (double)swap_operations);
	note(c, "page_outs", "%.1f", (double)swapped.outs / (double)swap_operations);
}

#endif
