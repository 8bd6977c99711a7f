/* Resource use around a timed region.
 *
 * The two getrusage(2) calls stand next to the region: a system-call trace of a sample shows the kernel's calls
 * between them, and nothing else. The CPU clock is read outside of the pair, and so has the pair in it: more than a
 * microsecond, a tenth of the shortest published work. What that costs is learned beforehand and taken off.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <sys/resource.h>
#include <time.h>

#include "runtime.h"

#define READINGS 101

static uint64_t reading_cost; /* ns of the CPU clock */

static uint64_t ns_of(struct timeval t)
{
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_usec * 1000u;
}

static uint64_t cpu_clock(void)
{
	struct timespec t;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void add_usage(struct usage *u, int who)
{
	struct rusage r;
	getrusage(who, &r);
	u->user += ns_of(r.ru_utime);
	u->system += ns_of(r.ru_stime);
	u->vcsw += (uint64_t)r.ru_nvcsw;
	u->icsw += (uint64_t)r.ru_nivcsw;
	u->minflt += (uint64_t)r.ru_minflt;
	u->majflt += (uint64_t)r.ru_majflt;
	u->inblock += (uint64_t)r.ru_inblock;
	u->oublock += (uint64_t)r.ru_oublock;
}

static void read_usage(struct usage *u, int children)
{
	u->user = u->system = u->vcsw = u->icsw = u->minflt = u->majflt = u->inblock = u->oublock = 0;
	if (children != 0)
		add_usage(u, RUSAGE_CHILDREN);
	if (children != CHILDREN_ALONE)
		add_usage(u, RUSAGE_SELF);
}

void usage_begin(struct usage *before, int children)
{
	before->migrations = (uint64_t)sched_getcpu();
	before->cpu = cpu_clock();
	read_usage(before, children);
}

void usage_end(const struct usage *before, struct usage *d, int children)
{
	read_usage(d, children);
	uint64_t cpu = cpu_clock() - before->cpu;
	d->cpu = cpu > reading_cost ? cpu - reading_cost : 0; /* 0: too short to be told */
	/* where it is now against where it was: a lower bound, but one that costs no system call */
	d->migrations = !children && (uint64_t)sched_getcpu() != before->migrations;
	d->user -= before->user;
	d->system -= before->system;
	d->vcsw -= before->vcsw;
	d->icsw -= before->icsw;
	d->minflt -= before->minflt;
	d->majflt -= before->majflt;
	d->inblock -= before->inblock;
	d->oublock -= before->oublock;
	/* the dead have no CPU clock to read; the sum of their user and system time is exact where the parts are ticks */
	if (children)
		d->cpu = d->user + d->system;
	/* one that lives for less than a tick is charged to one side alone, so of many only the sum is known */
	if (children == CHILDREN_TOO)
		d->user = d->system = 0;
}

/* The median of some regions in which nothing is done but reading the clock, as around every region. */
void learn_reading_cost(void)
{
	uint64_t cost[READINGS];
	struct usage before, difference;
	for (int i = 0; i < READINGS; i++) {
		usage_begin(&before, 0);
		now_ns();
		now_ns();
		usage_end(&before, &difference, 0);
		int at = i;
		for (; at > 0 && cost[at - 1] > difference.cpu; at--)
			cost[at] = cost[at - 1];
		cost[at] = difference.cpu;
	}
	reading_cost = cost[READINGS / 2];
}
