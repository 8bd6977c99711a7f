/* Generators of many files: a C project, assembler sources to link, a tree to search; and a git history. */
#ifndef APP_TREES_H
#define APP_TREES_H

#include "records.h"

enum { LINES = 250, KINDS = 3 };

/* The same functions as those of append_function() in C source. */
static uint32_t function_value(unsigned kind, uint32_t a, uint32_t b, uint32_t x)
{
	uint32_t table[16];
	if (kind == 0)
		for (uint32_t i = 0; i < 8; i++)
			x = x * a + (b ^ i);
	if (kind == 1) {
		for (uint32_t i = 0; i < 16; i++)
			table[i] = (x >> (i & 7)) + i * a;
		for (uint32_t i = 0; i < 16; i++)
			x ^= table[(x + i) & 15] + b;
	}
	for (uint32_t i = 0; kind == 2 && i < 12; i++)
		switch ((x + i) % 5) {
		case 0: x += a; break;
		case 1: x ^= b; break;
		case 2: x = x << 3 | x >> 29; break;
		case 3: x -= i * a; break;
		default: x = ~x;
		}
	return x;
}

static void append_function(struct text *t, unsigned number, unsigned kind, uint32_t a, uint32_t b)
{
	appendf(t, "static uint32_t f%u(uint32_t x)\n{\n", number);
	if (kind == 0)
		appendf(t, "\tfor (uint32_t i = 0; i < 8; i++)\n\t\tx = x * %uu + (%uu ^ i);\n", a, b);
	if (kind == 1)
		appendf(t, "\tuint32_t table[16];\n\tfor (uint32_t i = 0; i < 16; i++)\n\t\ttable[i] = (x >> (i & 7)) + i * %uu;\n"
			"\tfor (uint32_t i = 0; i < 16; i++)\n\t\tx ^= table[(x + i) & 15] + %uu;\n", a, b);
	if (kind == 2) {
		appendf(t, "\tfor (uint32_t i = 0; i < 12; i++)\n\t\tswitch ((x + i) %% 5) {\n\t\tcase 0:\n\t\t\tx += %uu;\n\t\t\tbreak;\n"
			"\t\tcase 1:\n\t\t\tx ^= %uu;\n\t\t\tbreak;\n", a, b);
		appendf(t, "\t\tcase 2:\n\t\t\tx = x << 3 | x >> 29;\n\t\t\tbreak;\n\t\tcase 3:\n\t\t\tx -= i * %uu;\n\t\t\tbreak;\n"
			"\t\tdefault:\n\t\t\tx = ~x;\n\t\t}\n", a);
	}
	appendf(t, "\treturn x;\n}\n\n");
}

/* Writes one file of LINES lines. Returns the value of its function at x. */
static uint32_t make_part(struct random *r, uint64_t part, const char *path, uint32_t x)
{
	static const unsigned lines[KINDS] = {7, 10, 24};
	struct text t = {0}, calls = {0};
	char name[512];
	unsigned used = 10, functions = 0;
	x ^= (uint32_t)salt;
	appendf(&t, "#include <stdint.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n#include \"salt.h\"\n\n");
	for (; used + lines[functions % KINDS] + 1 <= LINES; functions++) {
		unsigned kind = functions % KINDS;
		uint32_t a = (uint32_t)draw(r) | 1, b = (uint32_t)draw(r);
		append_function(&t, functions, kind, a, b);
		appendf(&calls, "\tx = f%u(x);\n", functions);
		used += lines[kind] + 1;
		x = function_value(kind, a, b, x);
	}
	appendf(&t, "uint32_t part_%" PRIu64 "(uint32_t x)\n{\n\tx ^= SALT;\n", part);
	append(&t, calls.data, calls.length);
	appendf(&t, "\treturn x;\n}\n");
	add_to_hash(&t);
	snprintf(name, sizeof name, "%s/part_%" PRIu64 ".c", path, part);
	write_file(name, &t);
	free(t.data);
	free(calls.data);
	return x;
}

static void write_file_in(const char *path, const char *file, const struct text *t)
{
	char name[512];
	snprintf(name, sizeof name, "%s/%s", path, file);
	write_file(name, t);
}

/* A project of SIZE files and a main that prints their result; make links it to ../program. Every file depends on the salt, which
 * invalidates old object files. */
static void make_project(uint64_t size, uint64_t seed, const char *path)
{
	struct random r = {seed};
	struct text header = {0}, start = {0}, rules = {0};
	uint32_t x = 1;
	make_directory(path);
	appendf(&start, "#include <stdint.h>\n#include <stdio.h>\n\n");
	appendf(&rules, "CFLAGS = -O2\nOBJECTS = main.o");
	for (uint64_t i = 0; i < size; i++) {
		x = make_part(&r, i, path, x);
		appendf(&start, "uint32_t part_%" PRIu64 "(uint32_t);\n", i);
		appendf(&rules, " part_%" PRIu64 ".o", i);
	}
	appendf(&start, "\nint main(void)\n{\n\tuint32_t x = 1;\n");
	for (uint64_t i = 0; i < size; i++)
		appendf(&start, "\tx = part_%" PRIu64 "(x);\n", i);
	appendf(&start, "\tprintf(\"%%u\\n\", (unsigned)x);\n\treturn 0;\n}\n");
	appendf(&rules, "\n../program: $(OBJECTS)\n\t$(CC) -o $@ $(OBJECTS)\n.c.o:\n\t$(CC) $(CFLAGS) -c $<\n$(OBJECTS): salt.h\n");
	add_to_hash(&start);
	add_to_hash(&rules);
	appendf(&header, "#define SALT %uu\n", (unsigned)(uint32_t)salt);
	write_file_in(path, "main.c", &start);
	write_file_in(path, "Makefile", &rules);
	write_file_in(path, "salt.h", &header);
	write_answer("answer-program", "%u\n", (unsigned)x);
}

enum { SYMBOLS = 1000, LINKS = 4, STEPS = 100000 };

/* SIZE assembler sources, each with SYMBOLS nodes that reference LINKS nodes of any object, and a main that walks from node to node: the
 * expected output is the sum of the visited numbers. */
static void make_objects(uint64_t size, uint64_t seed, const char *path)
{
	struct random r = {seed};
	uint32_t nodes = (uint32_t)size * SYMBOLS, *next = malloc((size_t)nodes * LINKS * sizeof *next);
	struct text start = {0};
	char name[512];
	if (next == NULL)
		die("no memory");
	make_directory(path);
	for (uint32_t i = 0; i < nodes * LINKS; i++)
		next[i] = random_below(&r, nodes);
	for (uint32_t part = 0; part < size; part++) {
		struct text t = {0};
		appendf(&t, "\t.data\n\t.balign 16\n");
		for (uint32_t i = part * SYMBOLS; i < (part + 1) * SYMBOLS; i++) {
			appendf(&t, "\t.globl node_%u\nnode_%u:\n\t.dc.a ", i, i);
			for (unsigned link = 0; link < LINKS; link++)
				appendf(&t, "node_%u, ", next[i * LINKS + link]);
			appendf(&t, "%u\n", i);
		}
		appendf(&t, "\t.section .note.GNU-stack,\"\"\n");
		add_to_hash(&t);
		snprintf(name, sizeof name, "%s/part_%u.s", path, part);
		write_file(name, &t);
		free(t.data);
	}
	uint64_t walked = 0, x = (uint32_t)salt, node = 0;
	for (unsigned i = 0; i < STEPS; i++) {
		walked += node;
		node = next[node * LINKS + (x >> 16) % LINKS];
		x = (x * 1103515245u + 12345u) & 0xffffffff;
	}
	free(next);
	appendf(&start, "#include <stdint.h>\n#include <stdio.h>\nstruct node {\n\tstruct node *next[%d];\n\tuintptr_t number;\n};\n"
		     "extern struct node node_0;\nint main(void)\n{\n\tuint64_t walked = 0, x = %u;\n", LINKS, (unsigned)(uint32_t)salt);
	appendf(&start, "\tstruct node *at = &node_0;\n\tfor (unsigned i = 0; i < %d; i++) {\n\t\twalked += at->number;\n"
		     "\t\tat = at->next[(x >> 16) %% %d];\n\t\tx = (x * 1103515245u + 12345u) & 0xffffffff;\n\t}\n"
		     "\tprintf(\"%%llu\\n\", (unsigned long long)walked);\n\treturn 0;\n}\n", STEPS, LINKS);
	write_file_in(path, "main.c", &start);
	write_answer("answer-program", "%" PRIu64 "\n", walked);
}

#define NEEDLE "xylophone"

/* A member of a tar archive (POSIX ustar): a header of 512 bytes, and the file in blocks of 512. */
static void archive_file(struct text *archive, const char *name, const struct text *t)
{
	char head[512] = {0};
	unsigned checksum = 0;
	snprintf(head, 100, "%s", name);
	snprintf(head + 100, 8, "%07o", 0644);
	snprintf(head + 108, 8, "%07o", 0);
	snprintf(head + 116, 8, "%07o", 0);
	snprintf(head + 124, 12, "%011zo", t->length);
	snprintf(head + 136, 12, "%011o", 1700000000);
	memset(head + 148, ' ', 8);
	memcpy(head + 156, "0", 1);
	memcpy(head + 257, "ustar\00000", 8);
	for (size_t i = 0; i < sizeof head; i++)
		checksum += (unsigned char)head[i];
	snprintf(head + 148, 8, "%06o", checksum);
	append(archive, head, sizeof head);
	append(archive, t->data, t->length);
	size_t rest = (512 - t->length % 512) % 512;
	memset(reserve(archive, rest), 0, rest);
	archive->length += rest;
}

/* One file of the tree, with a needle line if requested. */
static void make_leaf(struct text *archive, struct random *r, const char *name, int needle, struct text *needles, int salted)
{
	struct text t = {0};
	size_t before;
	append_prose(&t, r, 200 + random_below(r, 3600));
	if (needle) {
		before = t.length;
		appendf(&t, "%s %016" PRIx64 "\n", NEEDLE, draw(r));
		append(needles, t.data + before, t.length - before);
	}
	if (!salted)
		add_to_hash(&t);
	if (archive != NULL)
		archive_file(archive, name, &t);
	else if (salted || access(name, F_OK) != 0)
		write_file(name, &t);
	free(t.data);
}

/* SIZE files in directories of 100, plus 1 % from the salt; every 50th contains a needle. Existing files of the seed are kept: earlier
 * programs only read them. With `archive`, files become its members instead. */
static void make_files(uint64_t size, uint64_t seed, const char *path, struct text *archive)
{
	struct random r = {seed}, salted = {salt};
	struct text needles = {0};
	uint64_t more = 1 + size / 100;
	char name[512];
	if (archive == NULL)
		make_spread_directory(path);
	for (uint64_t i = 0; i < size; i++) {
		if (i % 100 == 0 && archive == NULL) {
			snprintf(name, sizeof name, "%s/folder_%" PRIu64, path, i / 100);
			make_directory(name);
		}
		snprintf(name, sizeof name, "%s/folder_%" PRIu64 "/%s_%" PRIu64 ".txt", path, i / 100, words[random_word(&r)], i);
		make_leaf(archive, &r, name, i % 50 == 0, &needles, 0);
	}
	snprintf(name, sizeof name, "%s/salted", path);
	if (archive == NULL)
		make_directory(name);
	for (uint64_t i = 0; i < more; i++) {
		snprintf(name, sizeof name, "%s/salted/%" PRIu64 ".txt", path, i);
		make_leaf(archive, &salted, name, 1, &needles, 1);
	}
	write_line_answer("answer-needles", &needles);
	write_answer("answer-files", "%" PRIu64 "\n", size + more);
}

static void make_tree(uint64_t size, uint64_t seed, const char *path)
{
	make_files(size, seed, path, NULL);
}

/* The same files as a tar archive. */
static void make_archive(uint64_t size, uint64_t seed, const char *path)
{
	struct text archive = {0};
	make_files(size, seed, ".", &archive);
	memset(reserve(&archive, 1024), 0, 1024);
	archive.length += 1024;
	write_file(path, &archive);
}

enum { FILES = 300, EDITED = 3 };

/* A stream for git fast-import: FILES files, of which each commit edits EDITED; the last commit contains the salt. */
static void make_commits(uint64_t size, uint64_t seed, const char *path)
{
	struct random r = {seed};
	struct text t = {0}, *file = calloc(FILES, sizeof *file);
	if (file == NULL)
		die("no memory");
	for (uint64_t i = 0; i < size; i++) {
		unsigned edited = i == 0 ? FILES : EDITED;
		appendf(&t, "commit refs/heads/main\ncommitter %s <%s@example.org> %" PRIu64 " +0000\ndata <<END\n", words[i % 37],
		     words[i % 37], 1700000000 + i * 1000);
		append_prose(&t, &r, 60);
		appendf(&t, "END\n");
		for (unsigned e = 0; e < edited; e++) {
			unsigned which = i == 0 ? e : random_below(&r, FILES / EDITED) * EDITED + e;
			struct text *f = &file[which];
			if (i == 0)
				for (unsigned line = 0; line < 25; line++)
					append_prose(f, &r, 70);
			struct text edit = {0};
			append_prose(&edit, &r, 100);
			size_t offset = random_below(&r, (uint32_t)(f->length - edit.length));
			memcpy(f->data + offset, edit.data, edit.length);
			free(edit.data);
			appendf(&t, "M 100644 inline folder_%u/%s_%u.txt\ndata %zu\n", which % 20, words[which + 500], which, f->length);
			append(&t, f->data, f->length);
			append(&t, "\n", 1);
		}
	}
	add_to_hash(&t);
	appendf(&t, "commit refs/heads/main\ncommitter salt <salt@example.org> 1800000000 +0000\ndata <<END\nThe last\nEND\n"
		 "M 100644 inline salt\ndata 17\n%016" PRIx64 "\n\n", salt);
	write_file(path, &t);
	write_answer("answer-commits", "%" PRIu64 "\n", size + 1);
	write_answer("answer-salt", "%016" PRIx64 "\n", salt);
}

#endif
