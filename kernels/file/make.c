/* file/create/..., file/delete/...: creation and removal of files (lmbench-1996, file system latency).
 *
 * One operation of op=create creates a file, writes bytes= bytes by one write(2) unless 0, and closes it; the files of a region are in a
 * new directory. Their content is checked untimed, and they are removed. One operation of op=delete is one unlink of such a file. Nothing
 * is synced: this is the cost of the file system in memory.
 *
 * An ext4 without journal does not reuse an inode freed in the last minutes, and scans all of them in the directory's block group for every
 * new file: after some thousand deletions that takes 20 times as long as the creation. So the directories are spread over block groups
 * (FS_TOPDIR_FL), as home directories are, and the number of files is limited; other file systems reject the flag, and do not need it.
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

#define MAX_BYTES 65536
#define MAX_FILES 128 /* names fit into one block */

static char content[MAX_BYTES], found[MAX_BYTES + 1];
static size_t bytes;
static int is_delete;
static char directory[24];

static const char *name(uint64_t i)
{
	static char text[] = "00000";
	for (int digit = 4; digit >= 0; digit--, i /= 10)
		text[digit] = (char)('0' + i % 10);
	return text;
}

/* The content starts with the file's number. */
static int create_file(struct context *c, uint64_t i)
{
	int file = open(name(i), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	memcpy(content, &i, sizeof i);
	if (file < 0 || (bytes > 0 && write(file, content, bytes) != (ssize_t)bytes) || close(file) != 0) {
		failed(c, file < 0 ? "open" : "write");
		return 0;
	}
	return 1;
}

static int remove_file(struct context *c, uint64_t i)
{
	if (unlink(name(i)) == 0)
		return 1;
	failed(c, "unlink");
	return 0;
}

static int is_correct(uint64_t i)
{
	int file = open(name(i), O_RDONLY | O_CLOEXEC);
	ssize_t got = file < 0 ? -1 : read(file, found, bytes + 1);
	if (file >= 0)
		close(file);
	memcpy(content, &i, sizeof i);
	return got == (ssize_t)bytes && memcmp(found, content, bytes) == 0;
}

/* Asks the file system to place new directories in different block groups. */
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
	is_delete = strcmp(op, "delete") == 0;
	if ((!is_delete && strcmp(op, "create") != 0) || bytes > MAX_BYTES || (bytes > 0 && bytes < sizeof(uint64_t)))
		wrong_arguments(c, "op=%s is neither create nor delete, or bytes=%zu is neither 0 nor 8 to %d", op, bytes,
			       MAX_BYTES);
	for (size_t i = 0; i < MAX_BYTES; i++)
		content[i] = (char)('a' + i % 26);
	spread_directories(c);
}

static void prepare(struct context *c, uint64_t n)
{
	/* the name determines the block group, so it must be new */
	snprintf(directory, sizeof directory, "%llx", (unsigned long long)now_ns());
	if (mkdir(directory, 0700) != 0 || chdir(directory) != 0) {
		failed(c, "mkdir");
		return;
	}
	for (uint64_t i = 0; is_delete && i < n && create_file(c, i); i++)
		;
}

static void run(struct context *c, uint64_t n, uint64_t *check)
{
	for (uint64_t i = 0; i < n && (is_delete ? remove_file(c, i) : create_file(c, i)); i++)
		++*check;
}

static void finish(struct context *c, uint64_t n, uint64_t *check)
{
	for (uint64_t i = 0; i < n; i++) {
		if (is_delete)
			*check += access(name(i), F_OK) != 0 && errno == ENOENT;
		else
			*check += (uint64_t)is_correct(i);
		if (!is_delete && !remove_file(c, i))
			return;
	}
	if (chdir("..") != 0 || rmdir(directory) != 0)
		failed(c, "rmdir");
}

/* Operations, plus files verified to be correct or absent. */
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
	.max_n = MAX_FILES,
};
