/* Resource use around a timed region.
 *
 * The two getrusage(2) calls are adjacent to the region: a system-call trace shows exactly the workload's calls between them. The CPU clock
 * is read outside, and so includes them: more than a microsecond, a tenth of the shortest reference workload. That cost is measured
 * beforehand and subtracted.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <sys/resource.h>
#include <time.h>

#include "runtime.h"

#define READINGS 101

static uint64_t reading_cost; /* ns of the CPU clock */

static uint64_t timeval_ns(struct timeval t)
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
	u->user += timeval_ns(r.ru_utime);
	u->system += timeval_ns(r.ru_stime);
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
	d->cpu = cpu > reading_cost ? cpu - reading_cost : 0; /* 0: too short to measure */
	/* compares CPU numbers: a lower bound, but without a system call */
	d->migrations = !children && (uint64_t)sched_getcpu() != before->migrations;
	d->user -= before->user;
	d->system -= before->system;
	d->vcsw -= before->vcsw;
	d->icsw -= before->icsw;
	d->minflt -= before->minflt;
	d->majflt -= before->majflt;
	d->inblock -= before->inblock;
	d->oublock -= before->oublock;
	/* reaped children have no CPU clock; the sum of user and system time is exact even if the parts have tick granularity */
	if (children)
		d->cpu = d->user + d->system;
	/* a process shorter than a tick is charged to user or system time alone, so for many only the sum is known */
	if (children == CHILDREN_TOO)
		d->user = d->system = 0;
}

/* Median of regions that contain only the two clock readings. */
void calibrate_usage(void)
{
	uint64_t cost[READINGS];
	struct usage before, difference;
	for (int i = 0; i < READINGS; i++) {
		usage_begin(&before, 0);
		now_ns();
		now_ns();
		usage_end(&before, &difference, 0);
		int j = i;
		for (; j > 0 && cost[j - 1] > difference.cpu; j--)
			cost[j] = cost[j - 1];
		cost[j] = difference.cpu;
	}
	reading_cost = cost[READINGS / 2];
}
