/* The file of 100 records of this family, written before timing, and the order of access: sequential, or pseudorandom from a fixed seed.
 * Every record starts with a stamp, which detects a missing or misplaced record. */
#ifndef GRITSTONE_FS_RECORDS_H
#define GRITSTONE_FS_RECORDS_H

#include "files.h"

#define RECORDS 100
#define MAX_RECORD 32768
#define NAME "records"
#define SEED 1987

static int file = -1, is_random;
static size_t size;
static unsigned order[RECORDS];
static uint64_t generation, record_generation[RECORDS]; /* expected generation of each record */
static char *buffer;

static void write_records(struct context *c)
{
	for (unsigned r = 0; r < RECORDS; r++) {
		uint64_t word = stamp(r, record_generation[r]);
		memcpy(buffer, &word, sizeof word);
		ssize_t written = pwrite(file, buffer, size, (off_t)(r * size));
		if (written != (ssize_t)size) {
			file_failed(c, "write", written < 0 ? errno : ENOSPC);
			return;
		}
	}
	if (fsync(file) != 0)
		file_failed(c, "fsync", errno);
}

/* Parses the parameters, and creates the order and the file. */
static void create_records(struct context *c)
{
	const char *pattern = parameter(c, "pattern", "");
	uint64_t state = SEED, sum = 0;
	size = parameter_u64(c, "size", 0);
	is_random = strcmp(pattern, "random") == 0;
	if (size < 512 || size > MAX_RECORD || size % 512 != 0 || (!is_random && strcmp(pattern, "sequential") != 0))
		wrong_arguments(c, "size= must be a multiple of 512 up to %d, and pattern= sequential or random", MAX_RECORD);
	for (unsigned i = 0; i < RECORDS; i++) {
		order[i] = is_random ? (unsigned)(draw(&state) % RECORDS) : i;
		sum = (sum << 1 | sum >> 63) + order[i];
	}
	note(c, "order", "%s, sum %016lx", pattern, (unsigned long)sum);
	buffer = aligned_alloc(ALIGNMENT, MAX_RECORD);
	file = open(NAME, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (buffer == NULL || file < 0) {
		file_failed(c, file < 0 ? "open" : "aligned_alloc", errno);
		return;
	}
	memset(buffer, 'a', MAX_RECORD);
	write_records(c);
}

static uint64_t count_correct_records(struct context *c)
{
	static char found[MAX_RECORD];
	uint64_t correct = 0;
	for (unsigned r = 0; r < RECORDS; r++) {
		uint64_t word = stamp(r, record_generation[r]);
		memcpy(buffer, &word, sizeof word);
		if (pread(file, found, size, (off_t)(r * size)) != (ssize_t)size) {
			failed(c, "pread");
			return correct;
		}
		correct += memcmp(found, buffer, size) == 0;
	}
	return correct;
}

static void remove_records(struct context *c)
{
	if (unlink(NAME) != 0)
		failed(c, "unlink");
}

#endif
