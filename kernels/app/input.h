/* What the sorts of input of app/generate have in common: random numbers from a seed, text that grows in memory, files, and the hash of all
 * that was made. Integers only, so that every machine makes the same bytes.
 */
#ifndef APP_INPUT_H
#define APP_INPUT_H

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/fs.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

struct text {
	char *at;
	size_t length, room;
};

struct random {
	uint64_t state;
};

static uint64_t sum = 0xcbf29ce484222325u; /* of the bytes that depend on the seed alone */
static uint64_t salt;			   /* another one each time: no result of an earlier time is right */

static void die(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));
static void die(const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	fputs("generate: ", stderr);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
	fputc('\n', stderr);
	exit(1);
}

/* splitmix64 */
static uint64_t draw(struct random *r)
{
	uint64_t x = r->state += 0x9e3779b97f4a7c15u;
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
	x = (x ^ x >> 27) * 0x94d049bb133111ebu;
	return x ^ x >> 31;
}

/* From 0 to n - 1. */
static uint32_t below(struct random *r, uint32_t n)
{
	return (uint32_t)((draw(r) >> 32) * n >> 32);
}

static void make_salt(void)
{
	struct timespec now;
	clock_gettime(CLOCK_REALTIME, &now);
	struct random r = {(uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec};
	salt = draw(&r) ^ (uint64_t)getpid();
}

/* FNV-1a on words of eight bytes, the first byte the lowest, and on the bytes that are left. */
static void hash(uint64_t *h, const char *bytes, size_t n)
{
	const unsigned char *b = (const unsigned char *)bytes;
	for (; n >= 8; n -= 8, b += 8) {
		uint64_t word;
		memcpy(&word, b, sizeof word);
		*h = (*h ^ le64toh(word)) * 0x100000001b3u;
		*h ^= *h >> 32;
	}
	for (; n > 0; n--, b++)
		*h = (*h ^ *b) * 0x100000001b3u;
}

static char *room_for(struct text *t, size_t n)
{
	if (t->room - t->length < n) {
		t->room = 2 * t->room + n + 4096;
		t->at = realloc(t->at, t->room);
		if (t->at == NULL)
			die("no memory for %zu bytes", t->room);
	}
	return t->at + t->length;
}

static inline void add(struct text *t, const char *bytes, size_t n)
{
	memcpy(room_for(t, n), bytes, n);
	t->length += n;
}

static void addf(struct text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void addf(struct text *t, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	int n = vsnprintf(room_for(t, 512), 512, format, arguments);
	va_end(arguments);
	if (n < 0 || n >= 512)
		die("a piece of text is longer than 511 bytes");
	t->length += (size_t)n;
}

/* What is there now depends on the seed alone, and what follows on the salt. */
static void seal(const struct text *t)
{
	hash(&sum, t->at, t->length);
}

static void make_directory(const char *path)
{
	if (mkdir(path, 0755) != 0 && errno != EEXIST)
		die("mkdir %s: %s", path, strerror(errno));
}

/* A directory whose directories the file system spreads over its groups, as those of users are: an ext4 without journal looks at each inode
 * of a group that was freed in the last minutes when it makes a file there, which takes longer than the file. Where there is no such wish, there
 * is nothing to spread. */
static void make_spread(const char *path)
{
	int flags, directory;
	make_directory(path);
	directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (directory < 0)
		die("%s: %s", path, strerror(errno));
	if (ioctl(directory, FS_IOC_GETFLAGS, &flags) == 0) {
		flags |= FS_TOPDIR_FL;
		ioctl(directory, FS_IOC_SETFLAGS, &flags);
	}
	close(directory);
}

static void save(const char *path, const struct text *t)
{
	FILE *file = fopen(path, "we");
	if (file == NULL || fwrite(t->at, 1, t->length, file) != t->length || fclose(file) != 0)
		die("%s: %s", path, strerror(errno));
}

/* Descriptor 0 where the path is "-". */
static struct text load(const char *path)
{
	struct text t = {0};
	FILE *file = strcmp(path, "-") == 0 ? stdin : fopen(path, "re");
	if (file == NULL)
		die("%s: %s", path, strerror(errno));
	size_t n;
	while ((n = fread(room_for(&t, 1 << 16), 1, 1 << 16, file)) > 0)
		t.length += n;
	if (ferror(file) || fclose(file) != 0)
		die("%s: %s", path, strerror(errno));
	return t;
}

/* What a program must find: a file of this name beside the input. */
static void answer(const char *name, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void answer(const char *name, const char *format, ...)
{
	va_list arguments;
	FILE *file = fopen(name, "we");
	if (file == NULL)
		die("%s: %s", name, strerror(errno));
	va_start(arguments, format);
	vfprintf(file, format, arguments);
	va_end(arguments);
	if (fclose(file) != 0)
		die("%s: %s", name, strerror(errno));
}

#endif
