/* The scanner of YEWCOM: 3,000 points a minute, each a record of 32 bytes in its place of a file, written at absolute times.
 *
 * It runs at SCHED_FIFO where that is allowed, and tells in memory that it shares how many points it has written and how late. That it tells
 * the truth is seen in the file: every record carries the pass in which it was written, and a sum over itself.
 */
#ifndef GRITSTONE_DAQ_SCANNER_H
#define GRITSTONE_DAQ_SCANNER_H

#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <time.h>

#include "../fs/files.h"

enum { POINTS = 3000, INTERVAL_NS = 20000000, PRIORITY = 50 };

struct record {
	uint32_t point, pass;
	uint64_t due; /* ns since the scanner began */
	double value;
	uint32_t spare, sum;
};
_Static_assert(sizeof(struct record) == 32, "the document has 32 bytes a point");

/* What the scanner says of itself. */
struct scanned {
	_Atomic uint64_t points, late, latest_ns;
	uint64_t begun_ns;
};

static struct scanned *scanned;
static int data_file = -1;
static uint64_t points_in_file = POINTS; /* more than the scanner reaches are never anything but what the file is made with */

static uint32_t sum_of(const struct record *r)
{
	const unsigned char *byte = (const void *)r;
	uint32_t sum = 2166136261u;
	for (size_t i = 0; i < offsetof(struct record, sum); i++)
		sum = (sum ^ byte[i]) * 16777619u;
	return sum;
}

/* The record of the n-th point since the scanner began: the passes begin at 1, and 0 is what the file is made with. */
static struct record record_of(uint64_t n, int made_before)
{
	struct record r = {.point = (uint32_t)(n % points_in_file),
				.pass = made_before ? 0 : (uint32_t)(n / points_in_file) + 1,
				.due = n * INTERVAL_NS};
	r.value = (double)(r.point % 10000) + (double)r.pass / 1000;
	r.sum = sum_of(&r);
	return r;
}

/* How often a point has been written when so many have been in all. */
static uint64_t passes_of(uint64_t point, uint64_t points)
{
	return (points + points_in_file - 1 - point) / points_in_file;
}

static uint64_t monotonic_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static _Noreturn void scan(uint64_t late_ns)
{
	const struct sched_param priority = {.sched_priority = PRIORITY};
	sched_setscheduler(0, SCHED_FIFO, &priority); /* where it is not allowed, that was said */
	for (uint64_t n = 0;; n++) {
		uint64_t due = scanned->begun_ns + n * INTERVAL_NS;
		const struct timespec until = {(time_t)(due / 1000000000), (long)(due % 1000000000)};
		const struct record r = record_of(n, 0);
		while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR)
			;
		if (pwrite(data_file, &r, sizeof r, (off_t)(r.point * sizeof r)) != sizeof r)
			_exit(1);
		uint64_t late = monotonic_ns() - due;
		if (late > scanned->latest_ns)
			scanned->latest_ns = late;
		scanned->late += late > late_ns;
		scanned->points++;
	}
}

/* Makes the file, of which nothing is in memory then where it is cold, and starts the scanner. */
static pid_t start_scanner(struct context *c, uint64_t late_ns, int cold)
{
	const struct sched_param priority = {.sched_priority = PRIORITY}, own = {0};
	int allowed = sched_setscheduler(0, SCHED_FIFO, &priority) == 0;
	if (allowed)
		sched_setscheduler(0, SCHED_OTHER, &own);
	note(c, "scanner", "%s", allowed ? "SCHED_FIFO" : "SCHED_OTHER: real-time priority is refused");
	data_file = open("points", O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	scanned = mmap(NULL, sizeof *scanned, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (data_file < 0 || scanned == MAP_FAILED) {
		failed(c, "open");
		return -1;
	}
	for (uint64_t n = 0; n < points_in_file; n++) {
		const struct record r = record_of(n, 1);
		if (write(data_file, &r, sizeof r) != sizeof r) {
			went_wrong(c, "write", errno);
			return -1;
		}
	}
	if (cold)
		must_be_on_a_device(c, data_file);
	scanned->begun_ns = monotonic_ns() + INTERVAL_NS;
	pid_t pid = fork_peer(c);
	if (pid == 0)
		scan(late_ns);
	if (pid < 0)
		failed(c, "fork");
	return pid;
}

/* That no point was lost or late so far, and that each record of the file is the one that it must be. */
static void look_at_points(struct context *c, uint64_t late_ns)
{
	uint64_t before = scanned->points, now = monotonic_ns();
	uint64_t due = now < scanned->begun_ns ? 0 : (now - scanned->begun_ns) / INTERVAL_NS + 1;
	if (before + late_ns / INTERVAL_NS + 1 < due || scanned->late > 0) {
		failed_because(c, "scanner", "%llu points were due, %llu were written, %llu of them more than %llu ms late, the latest %llu ms",
			       (unsigned long long)due, (unsigned long long)before, (unsigned long long)scanned->late,
			       (unsigned long long)late_ns / 1000000, (unsigned long long)(scanned->latest_ns / 1000000));
		return;
	}
	for (uint64_t point = 0; point < points_in_file && point < before + POINTS; point++) {
		/* the last time that it was written: the scanner goes on meanwhile, and may be in the middle of the next one */
		uint64_t passes = passes_of(point, before);
		const struct record is = record_of((passes > 0 ? passes - 1 : 0) * points_in_file + point, passes == 0);
		const struct record next = record_of(passes * points_in_file + point, 0);
		struct record r;
		if (pread(data_file, &r, sizeof r, (off_t)(point * sizeof r)) != sizeof r)
			failed(c, "pread");
		else if (memcmp(&r, &is, sizeof r) != 0 && memcmp(&r, &next, sizeof r) != 0)
			failed_because(c, "scanner", "the record of point %llu is not the one of pass %llu: it says point %u, pass %u",
				       (unsigned long long)point, (unsigned long long)passes, r.point, r.pass);
	}
}

#endif
