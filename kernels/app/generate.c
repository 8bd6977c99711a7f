/* app/generate: inputs for programs of today, from a seed, and the checks that need to know what the input was.
 *
 * generate SORT SIZE SEED SUM PATH: writes an input of this sort to PATH, and beside it, in files answer-*, what programs must make of it. All but
 * a small part depends on the seed alone; its hash must be SUM ("-": any), and is printed. The rest is another one each time, and the answers
 * with it, so that neither a cache nor an output of an earlier time passes for work.
 * generate spread DIRECTORY: makes it, see make_spread.
 * generate lines FILE: the number of lines and the sum of their hashes, as in answer-lines; with sorted, only where they are in order.
 * generate close A B MOST: files of one length whose bytes differ by no more than MOST hundredths in the mean.
 * generate cells FILE...: the band of black and white cells of each page, from images (PPM).
 */
#define _GNU_SOURCE
#include "pictures.h"
#include "trees.h"

struct sort {
	const char *name;
	void (*make)(uint64_t size, uint64_t seed, const char *path);
};

static const struct sort sorts[] = {
	{"text", make_text}, {"bytes", make_bytes}, {"log", make_log}, {"json", make_json}, {"csv", make_csv}, {"numbers", make_numbers},
	{"project", make_project}, {"objects", make_objects}, {"tree", make_tree}, {"archive", make_archive}, {"commits", make_commits},
	{"image", make_image}, {"video", make_video}, {"pages", make_pages},
};

static uint64_t number(const char *text)
{
	char *end;
	errno = 0;
	uint64_t n = strtoull(text, &end, 10);
	if (errno != 0 || end == text || *end != '\0')
		die("'%s' is no number", text);
	return n;
}

static int generate(char **argv)
{
	for (size_t i = 0; i < sizeof sorts / sizeof *sorts; i++) {
		char made[32];
		if (strcmp(sorts[i].name, argv[1]) != 0)
			continue;
		make_words();
		make_salt();
		sorts[i].make(number(argv[2]), number(argv[3]), argv[5]);
		snprintf(made, sizeof made, "%016" PRIx64, sum);
		if (strcmp(argv[4], "-") != 0 && strcmp(argv[4], made) != 0)
			die("the %s of size %s from seed %s has the hash %s; it should be %s", argv[1], argv[2], argv[3], made, argv[4]);
		printf("%s of size %s, seed %s, hash %s\n", argv[1], argv[2], argv[3], made);
		return 0;
	}
	die("no input is of sort '%s'", argv[1]);
}

static int check_lines(const char *path, int in_order)
{
	struct text t = load(path);
	const char *before = NULL;
	size_t before_length = 0;
	for (size_t at = 0; at < t.length;) {
		const char *line = t.at + at, *end = memchr(line, '\n', t.length - at);
		size_t n = end == NULL ? t.length - at : (size_t)(end - line), shorter = n < before_length ? n : before_length;
		int order = before == NULL ? -1 : memcmp(before, line, shorter);
		if (in_order && (order > 0 || (order == 0 && before_length > n)))
			die("%s is not sorted at byte %zu", path, at);
		before = line;
		before_length = n;
		at += n + 1;
	}
	answer_lines("/dev/stdout", &t);
	return 0;
}

static int check_close(const char *one, const char *two, uint64_t most)
{
	struct text a = load(one), b = load(two);
	uint64_t off = 0;
	if (a.length != b.length || a.length == 0)
		die("%s has %zu bytes and %s %zu", one, a.length, two, b.length);
	for (size_t i = 0; i < a.length; i++)
		off += (uint64_t)abs((unsigned char)a.at[i] - (unsigned char)b.at[i]);
	if (off * 100 / a.length > most)
		die("the bytes of %s and %s differ by %" PRIu64 " hundredths in the mean, more than %" PRIu64, one, two, off * 100 / a.length, most);
	return 0;
}

/* The head of an image: up to its bytes, which have a byte of white space before them. 0 where it is no PPM. */
static size_t head_of(const char *at, unsigned *width, unsigned *height)
{
	unsigned most = 0;
	int magic = 0, comment = 0, rest = 0;
	sscanf(at, "P6 %n", &magic);
	if (magic == 0)
		return 0;
	sscanf(at + magic, "#%*[^\n] %n", &comment);
	int numbers = sscanf(at + magic + comment, "%u %u %u%n", width, height, &most, &rest);
	return numbers == 3 && most == 255 ? (size_t)(magic + comment + rest + 1) : 0;
}

static int check_cells(char **files)
{
	for (; *files != NULL; files++) {
		struct text t = load(*files);
		unsigned width = 0, height = 0;
		*room_for(&t, 1) = '\0';
		size_t begin = head_of(t.at, &width, &height);
		if (begin == 0 || width < PAGE_WIDTH || t.length != begin + (size_t)3 * width * height)
			die("%s is no page: an image (P6) of at least %d pixels in width", *files, PAGE_WIDTH);
		for (unsigned cell = 0; cell < CELLS; cell++) {
			size_t x = (size_t)(40 + cell * 16 + 8) * width / PAGE_WIDTH, y = (size_t)(BAND / 2) * height / PAGE_HEIGHT;
			putchar((unsigned char)t.at[begin + 3 * (y * width + x)] < 128 ? '1' : '0');
		}
		putchar('\n');
	}
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 3 && strcmp(argv[1], "spread") == 0)
		return make_spread(argv[2]), 0;
	if (argc == 3 && (strcmp(argv[1], "lines") == 0 || strcmp(argv[1], "sorted") == 0))
		return check_lines(argv[2], argv[1][0] == 's');
	if (argc == 5 && strcmp(argv[1], "close") == 0)
		return check_close(argv[2], argv[3], number(argv[4]));
	if (argc > 2 && strcmp(argv[1], "cells") == 0)
		return check_cells(argv + 2);
	if (argc == 6)
		return generate(argv);
	die("usage: generate SORT SIZE SEED SUM PATH | spread DIRECTORY | lines FILE | sorted FILE | close A B MOST | cells FILE...");
}
