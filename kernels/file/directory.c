/* file/readdir/...: reading a large directory (POSIX, readdir(); getdents64(2)).
 *
 * One operation reads a directory of entries= names completely: open, as many getdents64 of 32 KB as necessary, close. The sum of the
 * names, which are numbers, detects missing and duplicate entries. The names are hard links to one file, or to as many files as the link
 * limit requires, since links are faster to create.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../runtime/kernel.h"

#define DIRECTORY "directory"
#define MAX_ENTRIES 1000000

/* struct linux_dirent64. */
struct entry {
	uint64_t inode;
	int64_t next;
	uint16_t length;
	uint8_t type;
	char name[];
};

static uint64_t entries;
static char buffer[32768] __attribute__((aligned(8)));

/* Links to the last file; creates a new one at the link limit. */
static int add_entry(const char *name)
{
	static char file[64];
	if (*file != '\0' && link(file, name) == 0)
		return 1;
	strcpy(file, name);
	int file_fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	return file_fd >= 0 && close(file_fd) == 0;
}

static const char *entry_name(uint64_t i)
{
	static char name[64];
	snprintf(name, sizeof name, DIRECTORY "/%06u", (unsigned)i);
	return name;
}

static void setup(struct context *c)
{
	entries = parameter_u64(c, "entries", 0);
	if (entries < 1 || entries > MAX_ENTRIES)
		wrong_arguments(c, "entries= is not 1 to %d", MAX_ENTRIES);
	else if (mkdir(DIRECTORY, 0700) != 0)
		failed(c, "mkdir");
	else
		for (uint64_t i = 1; i <= entries; i++)
			if (!add_entry(entry_name(i))) {
				failed(c, "open");
				return;
			}
}

/* Since the harness would take long to remove so many entries. */
static void teardown(struct context *c)
{
	for (uint64_t i = 1; i <= entries; i++)
		if (unlink(entry_name(i)) != 0) {
			failed(c, "unlink");
			return;
		}
	if (rmdir(DIRECTORY) != 0)
		failed(c, "rmdir");
}

/* 0 for `.` and `..`. */
static uint64_t entry_number(const char *name)
{
	uint64_t entry_number = 0;
	for (; *name >= '0' && *name <= '9'; name++)
		entry_number = 10 * entry_number + (uint64_t)(*name - '0');
	return entry_number;
}

static void run(struct context *c, uint64_t n, uint64_t *check)
{
	for (uint64_t i = 0; i < n; i++) {
		long got;
		int directory = open(DIRECTORY, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (directory < 0) {
			failed(c, "open");
			return;
		}
		while ((got = syscall(SYS_getdents64, directory, buffer, sizeof buffer)) > 0)
			for (long offset = 0; offset < got; offset += ((const struct entry *)(void *)(buffer + offset))->length)
				*check += entry_number(((const struct entry *)(void *)(buffer + offset))->name);
		if (got < 0)
			failed(c, "getdents64");
		if (close(directory) != 0)
			failed(c, "close");
		if (got < 0)
			return;
	}
}

static uint64_t expect(struct context *c, uint64_t n)
{
	(void)c;
	return n * (entries * (entries + 1) / 2);
}

const struct kernel kernel = {.name = "file/directory", .setup = setup, .run = run, .expect = expect, .teardown = teardown};
