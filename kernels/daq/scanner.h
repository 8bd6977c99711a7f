/* The scanner of YEWCOM: 3,000 points per minute, each written at a fixed time as a record of 32 bytes at a fixed offset of a file.
 *
 * It runs at SCHED_FIFO if permitted, and reports the number of points and their lateness in shared memory. The file verifies the report:
 * every record holds the pass in which it was written, and a checksum.
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
	uint64_t due; /* ns since the start */
	double value;
	uint32_t spare, sum;
};
_Static_assert(sizeof(struct record) == 32, "the document has 32 bytes a point");

/* Report of the scanner. */
struct scanner_status {
	_Atomic uint64_t points, late, latest_ns;
	uint64_t start_ns;
};

static struct scanner_status *scanner_status;
static int data_file = -1;
static uint64_t points_in_file = POINTS; /* points that the scanner does not reach keep their initial records */

static uint32_t checksum(const struct record *r)
{
	const unsigned char *byte = (const void *)r;
	uint32_t sum = 2166136261u;
	for (size_t i = 0; i < offsetof(struct record, sum); i++)
		sum = (sum ^ byte[i]) * 16777619u;
	return sum;
}

/* The n-th record: passes count from 1; initial records have pass 0. */
static struct record make_record(uint64_t n, int is_initial)
{
	struct record r = {.point = (uint32_t)(n % points_in_file),
				.pass = is_initial ? 0 : (uint32_t)(n / points_in_file) + 1,
				.due = n * INTERVAL_NS};
	r.value = (double)(r.point % 10000) + (double)r.pass / 1000;
	r.sum = checksum(&r);
	return r;
}

/* Passes of a point after a total number of points. */
static uint64_t completed_passes(uint64_t point, uint64_t points)
{
	return (points + points_in_file - 1 - point) / points_in_file;
}

static uint64_t monotonic_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static _Noreturn void run_scanner(uint64_t late_ns)
{
	const struct sched_param priority = {.sched_priority = PRIORITY};
	sched_setscheduler(0, SCHED_FIFO, &priority); /* start_scanner() has noted a refusal */
	for (uint64_t n = 0;; n++) {
		uint64_t due = scanner_status->start_ns + n * INTERVAL_NS;
		const struct timespec until = {(time_t)(due / 1000000000), (long)(due % 1000000000)};
		const struct record r = make_record(n, 0);
		while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR)
			;
		if (pwrite(data_file, &r, sizeof r, (off_t)(r.point * sizeof r)) != sizeof r)
			_exit(1);
		uint64_t late = monotonic_ns() - due;
		if (late > scanner_status->latest_ns)
			scanner_status->latest_ns = late;
		scanner_status->late += late > late_ns;
		scanner_status->points++;
	}
}

/* Creates the file, drops it from the page cache if cold, and forks the scanner. */
static pid_t start_scanner(struct context *c, uint64_t late_ns, int cold)
{
	const struct sched_param priority = {.sched_priority = PRIORITY}, normal_priority = {0};
	int allowed = sched_setscheduler(0, SCHED_FIFO, &priority) == 0;
	if (allowed)
		sched_setscheduler(0, SCHED_OTHER, &normal_priority);
	note(c, "scanner", "%s", allowed ? "SCHED_FIFO" : "SCHED_OTHER: real-time priority is refused");
	data_file = open("points", O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	scanner_status = mmap(NULL, sizeof *scanner_status, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (data_file < 0 || scanner_status == MAP_FAILED) {
		failed(c, "open");
		return -1;
	}
	for (uint64_t n = 0; n < points_in_file; n++) {
		const struct record r = make_record(n, 1);
		if (write(data_file, &r, sizeof r) != sizeof r) {
			file_failed(c, "write", errno);
			return -1;
		}
	}
	if (cold)
		require_cold(c, data_file);
	scanner_status->start_ns = monotonic_ns() + INTERVAL_NS;
	pid_t pid = fork_peer(c);
	if (pid == 0)
		run_scanner(late_ns);
	if (pid < 0)
		failed(c, "fork");
	return pid;
}

/* Checks that no point was lost or late, and every record of the file. */
static void check_points(struct context *c, uint64_t late_ns)
{
	uint64_t before = scanner_status->points, now = monotonic_ns();
	uint64_t due = now < scanner_status->start_ns ? 0 : (now - scanner_status->start_ns) / INTERVAL_NS + 1;
	if (before + late_ns / INTERVAL_NS + 1 < due || scanner_status->late > 0) {
		failed_because(c, "scanner", "%llu points were due, %llu were written, %llu of them more than %llu ms late, the latest %llu ms",
			       (unsigned long long)due, (unsigned long long)before, (unsigned long long)scanner_status->late,
			       (unsigned long long)late_ns / 1000000, (unsigned long long)(scanner_status->latest_ns / 1000000));
		return;
	}
	for (uint64_t point = 0; point < points_in_file && point < before + POINTS; point++) {
		/* either the last pass, or the next, which the running scanner may be writing */
		uint64_t passes = completed_passes(point, before);
		const struct record is = make_record((passes > 0 ? passes - 1 : 0) * points_in_file + point, passes == 0);
		const struct record next = make_record(passes * points_in_file + point, 0);
		struct record r;
		if (pread(data_file, &r, sizeof r, (off_t)(point * sizeof r)) != sizeof r)
			failed(c, "pread");
		else if (memcmp(&r, &is, sizeof r) != 0 && memcmp(&r, &next, sizeof r) != 0)
			failed_because(c, "scanner", "wrong record of point %llu, pass %llu: it holds point %u, pass %u",
				       (unsigned long long)point, (unsigned long long)passes, r.point, r.pass);
	}
}

#endif
