/* Generators of text files: prose, log lines, JSON, CSV; and parameters of a computation for interpreters. */
#ifndef APP_RECORDS_H
#define APP_RECORDS_H

#include "input.h"

enum { WORDS = 4096, LONGEST_WORD = 13 };

static char words[WORDS][LONGEST_WORD + 1];
static size_t word_length[WORDS];

static void make_words(void)
{
	static const char consonants[] = "bcdfghklmnprstvw", vowels[] = "aeiouaeo";
	struct random r = {4096};
	for (int i = 0; i < WORDS; i++) {
		size_t n = 0, syllables = 1 + random_below(&r, 3) + (i > 200);
		for (size_t s = 0; s < syllables; s++) {
			words[i][n++] = consonants[random_below(&r, 16)];
			words[i][n++] = vowels[random_below(&r, 8)];
			if (random_below(&r, 3) == 0)
				words[i][n++] = consonants[random_below(&r, 16)];
		}
		word_length[i] = n;
	}
}

/* Skewed distribution. */
static unsigned random_word(struct random *r)
{
	return random_below(r, random_below(r, random_below(r, WORDS) + 1) + 1);
}

static void append_word(struct text *t, struct random *r)
{
	unsigned w = random_word(r);
	append(t, words[w], word_length[w]);
}

/* About `bytes` bytes of prose, in lines. */
static void append_prose(struct text *t, struct random *r, size_t bytes)
{
	size_t end = t->length + bytes, column = 0;
	while (t->length < end) {
		size_t before = t->length;
		append_word(t, r);
		if (random_below(r, 12) == 0)
			append(t, random_below(r, 3) == 0 ? "." : ",", 1);
		column += t->length - before + 1;
		append(t, column > 72 ? "\n" : " ", 1);
		column = column > 72 ? 0 : column;
	}
	append(t, "\n", 1);
}

static void make_text(uint64_t size, uint64_t seed, const char *path)
{
	struct random r = {seed}, salted = {salt};
	struct text t = {0};
	append_prose(&t, &r, size);
	add_to_hash(&t);
	append_prose(&t, &salted, 1000);
	write_file(path, &t);
}

/* Printable bytes of six random bits: compressible, unlike a cipher's output. */
static void make_bytes(uint64_t size, uint64_t seed, const char *path)
{
	struct random r = {seed}, salted = {salt};
	struct text t = {0};
	reserve(&t, size + 8);
	for (; t.length < size; t.length += 8) {
		uint64_t eight = htole64((draw(&r) & 0x3f3f3f3f3f3f3f3fu) + 0x3030303030303030u);
		memcpy(t.data + t.length, &eight, 8);
	}
	add_to_hash(&t);
	appendf(&t, "%016" PRIx64, draw(&salted));
	write_file(path, &t);
}

enum { STATUSES = 4 };

/* A web server's log line; count and bytes by status are expected outputs. */
static void append_log_line(struct text *t, struct random *r, uint64_t second, uint64_t *count, uint64_t *bytes)
{
	static const char *const methods[] = {"GET", "GET", "GET", "POST"};
	static const unsigned statuses[STATUSES] = {200, 304, 404, 500};
	uint64_t bits = draw(r);
	unsigned status = (bits & 127) < 100 ? 0 : (bits & 127) < 120 ? 1 : (bits & 127) < 126 ? 2 : 3;
	unsigned length = (unsigned)(bits >> 40) % 60000;
	const char *one = words[random_word(r)], *two = words[random_word(r)];
	appendf(t, "10.%u.%u.%u - - [25/Nov/2026:%02u:%02u:%02u +0000] \"%s /%s/%s HTTP/1.1\" %u %u\n", (unsigned)(bits >> 8) & 15,
	     (unsigned)(bits >> 16) & 255, (unsigned)(bits >> 24) & 255, (unsigned)(second / 3600 % 24), (unsigned)(second / 60 % 60),
	     (unsigned)(second % 60), methods[bits >> 7 & 3], one, two, statuses[status], length);
	count[status]++;
	bytes[status] += length;
}

/* Independent of the order of lines: their number, and the sum of their hashes. */
static void write_line_answer(const char *name, const struct text *t)
{
	uint64_t lines = 0, all = 0;
	for (size_t offset = 0; offset < t->length;) {
		const char *end = memchr(t->data + offset, '\n', t->length - offset);
		size_t n = end == NULL ? t->length - offset : (size_t)(end - t->data) - offset;
		uint64_t h = 1;
		hash(&h, t->data + offset, n);
		all += h;
		lines++;
		offset += n + 1;
	}
	write_answer(name, "%" PRIu64 " %016" PRIx64 "\n", lines, all);
}

static void make_log(uint64_t size, uint64_t seed, const char *path)
{
	struct random r = {seed}, salted = {salt};
	struct text t = {0};
	uint64_t count[STATUSES] = {0}, bytes[STATUSES] = {0}, i;
	for (i = 0; i < size; i++)
		append_log_line(&t, &r, i / 8, count, bytes);
	add_to_hash(&t);
	for (uint64_t more = 100 + salt % 100; more > 0; more--, i++)
		append_log_line(&t, &salted, i / 8, count, bytes);
	write_file(path, &t);
	write_line_answer("answer-lines", &t);
	write_answer("answer-errors", "%" PRIu64 "\n", count[3]);
	write_answer("answer-bytes", "200 %" PRIu64 "\n304 %" PRIu64 "\n404 %" PRIu64 "\n500 %" PRIu64 "\n", bytes[0], bytes[1],
	       bytes[2], bytes[3]);
}

/* An array of objects; the expected output is number and total of the active ones. */
static void make_json(uint64_t size, uint64_t seed, const char *path)
{
	struct random r = {seed}, salted = {salt};
	struct text t = {0};
	uint64_t total = 0, active = 0, more = 10 + salt % 90;
	append(&t, "[", 1);
	for (uint64_t i = 0; i < size + more; i++) {
		struct random *from = i < size ? &r : &salted;
		unsigned value = random_below(from, 100000), is = random_below(from, 4) == 0, x = random_below(from, 1000), y = random_below(from, 1000);
		unsigned name = random_word(from), one = random_word(from), two = random_word(from);
		if (i == size)
			add_to_hash(&t);
		appendf(&t, "%s\n{\"id\": %" PRIu64 ", \"name\": \"%s\", \"active\": %s, \"value\": %u, ", i == 0 ? "" : ",", i, words[name],
		     is ? "true" : "false", value);
		appendf(&t, "\"tags\": [\"%s\", \"%s\"], \"at\": {\"x\": %u, \"y\": %u}}", words[one], words[two], x, y);
		total += is ? value : 0;
		active += is;
	}
	append(&t, "\n]\n", 3);
	write_file(path, &t);
	write_answer("answer-active", "%" PRIu64 " %" PRIu64 "\n", active, total);
}

/* Orders of customers; the expected output is the total per region. */
static void make_csv(uint64_t size, uint64_t seed, const char *path)
{
	struct random r = {seed}, salted = {salt};
	struct text t = {0};
	uint64_t sums[8] = {0}, more = 10 + salt % 90;
	for (uint64_t i = 0; i < size + more; i++) {
		struct random *from = i < size ? &r : &salted;
		unsigned region = random_below(from, 8), amount = 1 + random_below(from, 10000), customer = random_below(from, 5000), product = random_word(from);
		if (i == size)
			add_to_hash(&t);
		appendf(&t, "%" PRIu64 ",%u,%s,%u,%u\n", i, customer, words[product], region, amount);
		sums[region] += amount;
	}
	write_file(path, &t);
	struct text expected = {0};
	for (int i = 0; i < 8; i++)
		appendf(&expected, "%d|%" PRIu64 "\n", i, sums[i]);
	write_file("answer-regions", &expected);
}

/* The interpreters' computation in C: a histogram of a pseudorandom sequence, and the primes below a bound. */
static void make_numbers(uint64_t size, uint64_t seed, const char *path)
{
	enum { SLOTS = 5003 };
	static uint32_t counts[SLOTS];
	uint32_t x = (uint32_t)(seed + salt) & 0x7fffffff, first = x;
	uint64_t bound = size / 2, value = 0;
	char *composite = calloc(bound + 1, 1);
	if (composite == NULL)
		die("no memory");
	for (uint64_t i = 0; i < size; i++) {
		x = (x * 1103u + 12345u) & 0x7fffffff;
		counts[x % SLOTS]++;
	}
	for (uint32_t i = 0; i < SLOTS; i++)
		value = (value * 31 + (uint64_t)counts[i] * i) % 1000003;
	for (uint64_t i = 2; i < bound; i++) {
		if (composite[i])
			continue;
		value++;
		for (uint64_t j = i * i; j < bound; j += i)
			composite[j] = 1;
	}
	free(composite);
	struct text t = {0};
	appendf(&t, "%" PRIu64 "\n", size);
	add_to_hash(&t);
	appendf(&t, "%u\n", (unsigned)first);
	write_file(path, &t);
	write_answer("answer-numbers", "%" PRIu64 "\n", value);
}

#endif
