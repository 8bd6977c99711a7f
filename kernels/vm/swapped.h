/* What a workload asks for that pages its own memory to swap, and how many pages went there and came back.
 *
 * The kernel counts both for the whole machine (/proc/vmstat). The swap file is the run's own and comes after the machine's, so that on a
 * machine with free memory nobody else pages.
 */
#ifndef GRITSTONE_VM_SWAPPED_H
#define GRITSTONE_VM_SWAPPED_H

#include <stdio.h>
#include <string.h>

#include "../runtime/kernel.h"

static struct {
	uint64_t ins, outs;
} swap_before, swapped; /* at the beginning of a region; in all regions together */
static uint64_t swap_operations;

/* Without a limit nothing pages, and without swap nothing can go. Whether both are there. */
static int must_swap(struct context *c)
{
	const char *why = parameter(c, "unswapped", NULL);
	if (strcmp(parameter(c, "confined", "no"), "yes") != 0)
		skip(c, "Pages that belong to no file go to swap when a control group limits the process to less memory, and there is none (%s).",
		     parameter(c, "unconfined", "none was made"));
	else if (why != NULL)
		skip(c, "Pages that belong to no file need swap, and no swap file was made (%s); run it as root on a disk with room for one.", why);
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
		failed_because(c, "vmstat", "/proc/vmstat does not count pages that go to swap");
}

static void swap_begins(struct context *c)
{
	count_swap(c, &swap_before.ins, &swap_before.outs);
}

static void swap_ends(struct context *c, uint64_t n)
{
	uint64_t ins = 0, outs = 0;
	count_swap(c, &ins, &outs);
	swapped.ins += ins - swap_before.ins;
	swapped.outs += outs - swap_before.outs;
	swap_operations += n;
}

/* For each operation. */
static void note_swapped(struct context *c)
{
	if (swap_operations == 0)
		return;
	note(c, "page_ins", "%.1f", (double)swapped.ins / (double)swap_operations);
	note(c, "page_outs", "%.1f", (double)swapped.outs / (double)swap_operations);
}

#endif
