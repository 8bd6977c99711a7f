/* file/create/..., file/delete/...: making and removing files (lmbench-1996, file system latency).
 *
 * One operation of op=create is one file that is made anew, given bytes= bytes by one write where that is not 0, and closed; all of
 * a region are in a new directory. What they hold is compared after the clock has stopped, and they are removed. One operation of
 * op=delete is one unlink of such a file. Nothing is flushed: this is what the file system does before the device hears of it.
 *
 * An ext4 without journal takes no inode that was freed in the last minutes, and with every file that it makes looks at each of them in
 * the group of the directory: after some thousand deletions that is 20 times the making itself. So the directories are spread over the
 * groups, as those of users are, and no more files are deleted than it takes; file systems that know no such wish refuse it, and have
 * nothing to spread.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../runtime/kernel.h"

#define MOST_BYTES 65536
#define MOST_FILES 128 /* their names find room in one block */

static char content[MOST_BYTES], found[MOST_BYTES + 1];
static size_t bytes;
static int deletes;
static char directory[24]; /* of a region */

static const char *name(uint64_t i)
{
	static char text[] = "00000";
	for (int digit = 4; digit >= 0; digit--, i /= 10)
		text[digit] = (char)('0' + i % 10);
	return text;
}

/* Each file has its number in front, as far as it holds anything. */
static int make(struct context *c, uint64_t i)
{
	int file = open(name(i), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	memcpy(content, &i, sizeof i);
	if (file < 0 || (bytes > 0 && write(file, content, bytes) != (ssize_t)bytes) || close(file) != 0) {
		failed(c, file < 0 ? "open" : "write");
		return 0;
	}
	return 1;
}

static int removed(struct context *c, uint64_t i)
{
	if (unlink(name(i)) == 0)
		return 1;
	failed(c, "unlink");
	return 0;
}

static int is_right(uint64_t i)
{
	int file = open(name(i), O_RDONLY | O_CLOEXEC);
	ssize_t got = file < 0 ? -1 : read(file, found, bytes + 1);
	if (file >= 0)
		close(file);
	memcpy(content, &i, sizeof i);
	return got == (ssize_t)bytes && memcmp(found, content, bytes) == 0;
}

/* Of what is made here next, each directory is to be somewhere else. */
static void spread_directories(struct context *c)
{
	int flags, here = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (here < 0) {
		failed(c, "open");
		return;
	}
	if (ioctl(here, FS_IOC_GETFLAGS, &flags) == 0) {
		flags |= FS_TOPDIR_FL;
		ioctl(here, FS_IOC_SETFLAGS, &flags);
	}
	close(here);
}

static void setup(struct context *c)
{
	const char *op = parameter(c, "op", "");
	bytes = (size_t)parameter_u64(c, "bytes", 0);
	deletes = strcmp(op, "delete") == 0;
	if ((!deletes && strcmp(op, "create") != 0) || bytes > MOST_BYTES || (bytes > 0 && bytes < sizeof(uint64_t)))
		wrong_arguments(c, "op=%s is neither create nor delete, or bytes=%zu is neither 0 nor 8 to %d", op, bytes,
			       MOST_BYTES);
	for (size_t i = 0; i < MOST_BYTES; i++)
		content[i] = (char)('a' + i % 26);
	spread_directories(c);
}

static void prepare(struct context *c, uint64_t n)
{
	/* by the name it is chosen where: never twice the same */
	snprintf(directory, sizeof directory, "%llx", (unsigned long long)now_ns());
	if (mkdir(directory, 0700) != 0 || chdir(directory) != 0) {
		failed(c, "mkdir");
		return;
	}
	for (uint64_t i = 0; deletes && i < n && make(c, i); i++)
		;
}

static void run(struct context *c, uint64_t n, uint64_t *check)
{
	for (uint64_t i = 0; i < n && (deletes ? removed(c, i) : make(c, i)); i++)
		++*check;
}

static void finish(struct context *c, uint64_t n, uint64_t *check)
{
	for (uint64_t i = 0; i < n; i++) {
		if (deletes)
			*check += access(name(i), F_OK) != 0 && errno == ENOENT;
		else
			*check += (uint64_t)is_right(i);
		if (!deletes && !removed(c, i))
			return;
	}
	if (chdir("..") != 0 || rmdir(directory) != 0)
		failed(c, "rmdir");
}

/* Files that were made or removed, and those that are then right or not there. */
static uint64_t expect(struct context *c, uint64_t n)
{
	(void)c;
	return 2 * n;
}

const struct kernel kernel = {
	.name = "file/make",
	.setup = setup,
	.prepare = prepare,
	.run = run,
	.finish = finish,
	.expect = expect,
	.max_n = MOST_FILES,
};
