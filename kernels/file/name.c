/* file/open-close, file/stat/..., file/rename: what the name of a file costs (lmbench-1996, simple entry into the operating system
 * and file system latency; POSIX, open(), stat() and rename()).
 *
 * One operation is, by how=: open, one open and one close of a file that is there; stat, one stat; rename, one rename, to another
 * name and back in turn. The file lies depth= names below the directory of the launch, so that depth=1 is in it, and its
 * path is relative. After the first time all names are in the kernel's own cache of names.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../runtime/kernel.h"

#define DEEPEST 64

static char path[4 * DEEPEST], other[] = "other";
static struct stat there;
static enum { OPEN, STAT, RENAME } how;

static int make(struct context *c, uint64_t depth)
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
	/* a size by which it is known */
	if (file < 0 || write(file, path, strlen(path)) != (ssize_t)strlen(path) || fstat(file, &there) != 0 || close(file) != 0) {
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
	for (how = OPEN; how <= RENAME && strcmp(name, names[how]) != 0; how++)
		;
	if (how > RENAME || depth < 1 || depth > DEEPEST - 1)
		wrong_arguments(c, "how=%s is none of open, stat and rename, or depth= is not 1 to %d", name, DEEPEST - 1);
	else
		make(c, depth);
}

static void run(struct context *c, uint64_t n, uint64_t *check)
{
	for (uint64_t i = 0; i < n; i++) {
		struct stat found;
		int file;
		switch (how) {
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
			*check += found.st_ino == there.st_ino && found.st_size == there.st_size;
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

/* It is where the last operation has left it, under its first name when the next region begins, and nowhere else. */
static void finish(struct context *c, uint64_t n, uint64_t *check)
{
	struct stat found;
	int moved = how == RENAME && (n & 1);
	if (stat(moved ? other : path, &found) != 0 || found.st_ino != there.st_ino || access(moved ? path : other, F_OK) == 0)
		*check = 0;
	if (moved && rename(other, path) != 0)
		failed(c, "rename");
}

static uint64_t expect(struct context *c, uint64_t n)
{
	(void)c;
	return n;
}

const struct kernel kernel = {.name = "file/name", .setup = setup, .run = run, .finish = finish, .expect = expect};
