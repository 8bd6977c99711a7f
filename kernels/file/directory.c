/* file/readdir/...: reading a large directory (POSIX, readdir(); getdents64(2)).
 *
 * One operation is one reading of a directory of entries= names from front to back: it is opened, read by as many getdents64 of 32 KB
 * as the file system needs, and closed. What the entries are called is added up, so that none is missing or told twice. They are names of
 * one file, or of as many as the file system wants for so many names: the reading is of names, and they are sooner made.
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
#define MOST 1000000

/* As the kernel has it. */
struct entry {
	uint64_t inode;
	int64_t next;
	uint16_t length;
	uint8_t type;
	char name[];
};

static uint64_t entries;
static char buffer[32768] __attribute__((aligned(8)));

/* One name more for the last file; for a new one where that has as many as it may. */
static int make(const char *name)
{
	static char file[64];
	if (*file != '\0' && link(file, name) == 0)
		return 1;
	strcpy(file, name);
	int made = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	return made >= 0 && close(made) == 0;
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
	if (entries < 1 || entries > MOST)
		wrong_arguments(c, "entries= is not 1 to %d", MOST);
	else if (mkdir(DIRECTORY, 0700) != 0)
		failed(c, "mkdir");
	else
		for (uint64_t i = 1; i <= entries; i++)
			if (!make(entry_name(i))) {
				failed(c, "open");
				return;
			}
}

/* Or whoever measures would have to. */
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

/* Of a name that is a number; `.` and `..` are none. */
static uint64_t number(const char *name)
{
	uint64_t number = 0;
	for (; *name >= '0' && *name <= '9'; name++)
		number = 10 * number + (uint64_t)(*name - '0');
	return number;
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
			for (long at = 0; at < got; at += ((const struct entry *)(void *)(buffer + at))->length)
				*check += number(((const struct entry *)(void *)(buffer + at))->name);
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
