/* The file of one hundred records that the programs of this family work on, made and written before anything is timed, and the
 * order in which its records are taken: one after the other, or as the generator draws them from a fixed seed. Every record has
 * a stamp in front, so that one that is missing or stands elsewhere shows. */
#ifndef GRITSTONE_FS_RECORDS_H
#define GRITSTONE_FS_RECORDS_H

#include "files.h"

#define RECORDS 100
#define LARGEST 32768
#define NAME "records"
#define SEED 1987

static int file = -1, at_random;
static size_t size;
static unsigned order[RECORDS];
static uint64_t generation, holds[RECORDS]; /* the writing that each record is of */
static char *buffer;

static void write_records(struct context *c)
{
	for (unsigned r = 0; r < RECORDS; r++) {
		uint64_t word = stamp(r, holds[r]);
		memcpy(buffer, &word, sizeof word);
		ssize_t put = pwrite(file, buffer, size, (off_t)(r * size));
		if (put != (ssize_t)size) {
			went_wrong(c, "write", put < 0 ? errno : ENOSPC);
			return;
		}
	}
	if (fsync(file) != 0)
		went_wrong(c, "fsync", errno);
}

/* Parameters, the order, and the file. */
static void make_records(struct context *c)
{
	const char *pattern = parameter(c, "pattern", "");
	uint64_t state = SEED, sum = 0;
	size = parameter_u64(c, "size", 0);
	at_random = strcmp(pattern, "random") == 0;
	if (size < 512 || size > LARGEST || size % 512 != 0 || (!at_random && strcmp(pattern, "sequential") != 0))
		wrong_arguments(c, "size= must be a multiple of 512 up to %d, and pattern= sequential or random", LARGEST);
	for (unsigned i = 0; i < RECORDS; i++) {
		order[i] = at_random ? (unsigned)(draw(&state) % RECORDS) : i;
		sum = (sum << 1 | sum >> 63) + order[i];
	}
	note(c, "order", "%s, sum %016lx", pattern, (unsigned long)sum);
	buffer = aligned_alloc(ALIGNMENT, LARGEST);
	file = open(NAME, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (buffer == NULL || file < 0) {
		went_wrong(c, file < 0 ? "open" : "aligned_alloc", errno);
		return;
	}
	memset(buffer, 'a', LARGEST);
	write_records(c);
}

/* Counts the records that are as they were last written. */
static uint64_t right_records(struct context *c)
{
	static char found[LARGEST];
	uint64_t right = 0;
	for (unsigned r = 0; r < RECORDS; r++) {
		uint64_t word = stamp(r, holds[r]);
		memcpy(buffer, &word, sizeof word);
		if (pread(file, found, size, (off_t)(r * size)) != (ssize_t)size) {
			failed(c, "pread");
			return right;
		}
		right += memcmp(found, buffer, size) == 0;
	}
	return right;
}

static void remove_records(struct context *c)
{
	if (unlink(NAME) != 0)
		failed(c, "unlink");
}

#endif
