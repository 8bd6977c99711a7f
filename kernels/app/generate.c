/* app/generate: generator of inputs for today's programs, and checks of their outputs.
 *
 * generate KIND SIZE SEED HASH PATH: writes an input to PATH, and the expected outputs of programs to files answer-* beside it. All but a
 * small part depends on the seed alone; its hash must be HASH ("-": any), and is printed. The rest is different each time, and the expected
 * outputs with it, so that neither a cache nor an earlier output passes for work. generate spread DIRECTORY: creates it, see
 * make_spread_directory(). generate lines FILE: prints the number of lines and the sum of their hashes, as in answer-lines; `sorted` also
 * requires sorted lines. generate close A B MAX: fails unless the files have equal length and a mean difference of bytes up to MAX
 * hundredths. generate cells FILE...: prints the band of black and white cells of each page, from images (PPM).
 */
#define _GNU_SOURCE
#include "pictures.h"
#include "trees.h"

struct input_kind {
	const char *name;
	void (*make)(uint64_t size, uint64_t seed, const char *path);
};

static const struct input_kind input_kinds[] = {
	{"text", make_text}, {"bytes", make_bytes}, {"log", make_log}, {"json", make_json}, {"csv", make_csv}, {"numbers", make_numbers},
	{"project", make_project}, {"objects", make_objects}, {"tree", make_tree}, {"archive", make_archive}, {"commits", make_commits},
	{"image", make_image}, {"video", make_video}, {"pages", make_pages},
};

static uint64_t parse_number(const char *text)
{
	char *end;
	errno = 0;
	uint64_t n = strtoull(text, &end, 10);
	if (errno != 0 || end == text || *end != '\0')
		die("'%s' is not a number", text);
	return n;
}

static int generate(char **argv)
{
	for (size_t i = 0; i < sizeof input_kinds / sizeof *input_kinds; i++) {
		char hash_text[32];
		if (strcmp(input_kinds[i].name, argv[1]) != 0)
			continue;
		make_words();
		make_salt();
		input_kinds[i].make(parse_number(argv[2]), parse_number(argv[3]), argv[5]);
		snprintf(hash_text, sizeof hash_text, "%016" PRIx64, content_hash);
		if (strcmp(argv[4], "-") != 0 && strcmp(argv[4], hash_text) != 0)
			die("the %s of size %s from seed %s has the hash %s; expected %s", argv[1], argv[2], argv[3], hash_text, argv[4]);
		printf("%s of size %s, seed %s, hash %s\n", argv[1], argv[2], argv[3], hash_text);
		return 0;
	}
	die("unknown kind of input '%s'", argv[1]);
}

static int check_lines(const char *path, int in_order)
{
	struct text t = load(path);
	const char *before = NULL;
	size_t before_length = 0;
	for (size_t offset = 0; offset < t.length;) {
		const char *line = t.data + offset, *end = memchr(line, '\n', t.length - offset);
		size_t n = end == NULL ? t.length - offset : (size_t)(end - line), shorter = n < before_length ? n : before_length;
		int order = before == NULL ? -1 : memcmp(before, line, shorter);
		if (in_order && (order > 0 || (order == 0 && before_length > n)))
			die("%s is not sorted at byte %zu", path, offset);
		before = line;
		before_length = n;
		offset += n + 1;
	}
	write_line_answer("/dev/stdout", &t);
	return 0;
}

static int check_close(const char *one, const char *two, uint64_t max)
{
	struct text a = load(one), b = load(two);
	uint64_t difference = 0;
	if (a.length != b.length || a.length == 0)
		die("%s has %zu bytes and %s %zu", one, a.length, two, b.length);
	for (size_t i = 0; i < a.length; i++)
		difference += (uint64_t)abs((unsigned char)a.data[i] - (unsigned char)b.data[i]);
	if (difference * 100 / a.length > max)
		die("the bytes of %s and %s differ by %" PRIu64 " hundredths in the mean, more than %" PRIu64, one, two, difference * 100 / a.length, max);
	return 0;
}

/* Returns the offset of the pixels, 0 if the text is not a PPM. */
static size_t parse_ppm_header(const char *text, unsigned *width, unsigned *height)
{
	unsigned max = 0;
	int magic = 0, comment = 0, rest = 0;
	sscanf(text, "P6 %n", &magic);
	if (magic == 0)
		return 0;
	sscanf(text + magic, "#%*[^\n] %n", &comment);
	int numbers = sscanf(text + magic + comment, "%u %u %u%n", width, height, &max, &rest);
	return numbers == 3 && max == 255 ? (size_t)(magic + comment + rest + 1) : 0;
}

static int check_cells(char **files)
{
	for (; *files != NULL; files++) {
		struct text t = load(*files);
		unsigned width = 0, height = 0;
		*reserve(&t, 1) = '\0';
		size_t begin = parse_ppm_header(t.data, &width, &height);
		if (begin == 0 || width < PAGE_WIDTH || t.length != begin + (size_t)3 * width * height)
			die("%s is not a page: an image (P6) of at least %d pixels in width", *files, PAGE_WIDTH);
		for (unsigned cell = 0; cell < CELLS; cell++) {
			size_t x = (size_t)(40 + cell * 16 + 8) * width / PAGE_WIDTH, y = (size_t)(BAND / 2) * height / PAGE_HEIGHT;
			putchar((unsigned char)t.data[begin + 3 * (y * width + x)] < 128 ? '1' : '0');
		}
		putchar('\n');
	}
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 3 && strcmp(argv[1], "spread") == 0)
		return make_spread_directory(argv[2]), 0;
	if (argc == 3 && (strcmp(argv[1], "lines") == 0 || strcmp(argv[1], "sorted") == 0))
		return check_lines(argv[2], argv[1][0] == 's');
	if (argc == 5 && strcmp(argv[1], "close") == 0)
		return check_close(argv[2], argv[3], parse_number(argv[4]));
	if (argc > 2 && strcmp(argv[1], "cells") == 0)
		return check_cells(argv + 2);
	if (argc == 6)
		return generate(argv);
	die("usage: generate KIND SIZE SEED HASH PATH | spread DIRECTORY | lines FILE | sorted FILE | close A B MAX | cells FILE...");
}
