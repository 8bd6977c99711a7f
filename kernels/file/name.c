/* file/open-close, file/stat/..., file/rename: cost of path lookup (lmbench-1996, simple entry into the operating system and file system
 * latency; POSIX, open(), stat() and rename()).
 *
 * One operation is, by how=: open, one open and close of an existing file; stat, one stat; rename, one rename, alternately to another name
 * and back. The path is relative, with depth= components; depth=1 is a file in the launch's directory. After the first access all names are
 * in the dentry cache.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../runtime/kernel.h"

#define MAX_DEPTH 64

static char path[4 * MAX_DEPTH], other[] = "other";
static struct stat original;
static enum { OPEN, STAT, RENAME } operation;

static int create_file(struct context *c, uint64_t depth)
{
	for (uint64_t i = 1; i < depth; i++) {
		strcat(path, "dir");
		if (mkdir(path, 0700) != 0) {
			failed(c, "mkdir");
			return 0;
		}
		strcat(path, "/");
	}
	strcat(path, "leaf");
	int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	/* the size identifies the file */
	if (file < 0 || write(file, path, strlen(path)) != (ssize_t)strlen(path) || fstat(file, &original) != 0 || close(file) != 0) {
		failed(c, "open");
		return 0;
	}
	return 1;
}

static void setup(struct context *c)
{
	static const char *const names[] = {"open", "stat", "rename"};
	const char *name = parameter(c, "how", "");
	uint64_t depth = parameter_u64(c, "depth", 1);
	for (operation = OPEN; operation <= RENAME && strcmp(name, names[operation]) != 0; operation++)
		;
	if (operation > RENAME || depth < 1 || depth > MAX_DEPTH - 1)
		wrong_arguments(c, "how=%s is not open, stat or rename, or depth= is not 1 to %d", name, MAX_DEPTH - 1);
	else
		create_file(c, depth);
}

static void run(struct context *c, uint64_t n, uint64_t *check)
{
	for (uint64_t i = 0; i < n; i++) {
		struct stat found;
		int file;
		switch (operation) {
		case OPEN:
			if ((file = open(path, O_RDONLY | O_CLOEXEC)) < 0 || close(file) != 0) {
				failed(c, "open");
				return;
			}
			++*check;
			break;
		case STAT:
			if (stat(path, &found) != 0) {
				failed(c, "stat");
				return;
			}
			*check += found.st_ino == original.st_ino && found.st_size == original.st_size;
			break;
		case RENAME:
			if (rename(i & 1 ? other : path, i & 1 ? path : other) != 0) {
				failed(c, "rename");
				return;
			}
			++*check;
			break;
		}
	}
}

/* Checks that the file has exactly the name that the last operation gave it, and restores the first. */
static void finish(struct context *c, uint64_t n, uint64_t *check)
{
	struct stat found;
	int renamed = operation == RENAME && (n & 1);
	if (stat(renamed ? other : path, &found) != 0 || found.st_ino != original.st_ino || access(renamed ? path : other, F_OK) == 0)
		*check = 0;
	if (renamed && rename(other, path) != 0)
		failed(c, "rename");
}

static uint64_t expect(struct context *c, uint64_t n)
{
	(void)c;
	return n;
}

const struct kernel kernel = {.name = "file/name", .setup = setup, .run = run, .finish = finish, .expect = expect};
