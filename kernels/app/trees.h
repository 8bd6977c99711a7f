/* Inputs of app/generate that are many files: a project in C, sources of objects to link, a tree to search; and a history for git. */
#ifndef APP_TREES_H
#define APP_TREES_H

#include "records.h"

enum { LINES = 250, KINDS = 3 };

/* What the functions of the project compute; their C is that of add_function. */
static uint32_t computed(unsigned kind, uint32_t a, uint32_t b, uint32_t x)
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

static void add_function(struct text *t, unsigned number, unsigned kind, uint32_t a, uint32_t b)
{
	addf(t, "static uint32_t f%u(uint32_t x)\n{\n", number);
	if (kind == 0)
		addf(t, "\tfor (uint32_t i = 0; i < 8; i++)\n\t\tx = x * %uu + (%uu ^ i);\n", a, b);
	if (kind == 1)
		addf(t, "\tuint32_t table[16];\n\tfor (uint32_t i = 0; i < 16; i++)\n\t\ttable[i] = (x >> (i & 7)) + i * %uu;\n"
			"\tfor (uint32_t i = 0; i < 16; i++)\n\t\tx ^= table[(x + i) & 15] + %uu;\n", a, b);
	if (kind == 2) {
		addf(t, "\tfor (uint32_t i = 0; i < 12; i++)\n\t\tswitch ((x + i) %% 5) {\n\t\tcase 0:\n\t\t\tx += %uu;\n\t\t\tbreak;\n"
			"\t\tcase 1:\n\t\t\tx ^= %uu;\n\t\t\tbreak;\n", a, b);
		addf(t, "\t\tcase 2:\n\t\t\tx = x << 3 | x >> 29;\n\t\t\tbreak;\n\t\tcase 3:\n\t\t\tx -= i * %uu;\n\t\t\tbreak;\n"
			"\t\tdefault:\n\t\t\tx = ~x;\n\t\t}\n", a);
	}
	addf(t, "\treturn x;\n}\n\n");
}

/* One file of LINES lines. Returns what its function makes of x. */
static uint32_t make_part(struct random *r, uint64_t part, const char *path, uint32_t x)
{
	static const unsigned lines[KINDS] = {7, 10, 24};
	struct text t = {0}, calls = {0};
	char name[512];
	unsigned used = 10, functions = 0;
	x ^= (uint32_t)salt;
	addf(&t, "#include <stdint.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n#include \"salt.h\"\n\n");
	for (; used + lines[functions % KINDS] + 1 <= LINES; functions++) {
		unsigned kind = functions % KINDS;
		uint32_t a = (uint32_t)draw(r) | 1, b = (uint32_t)draw(r);
		add_function(&t, functions, kind, a, b);
		addf(&calls, "\tx = f%u(x);\n", functions);
		used += lines[kind] + 1;
		x = computed(kind, a, b, x);
	}
	addf(&t, "uint32_t part_%" PRIu64 "(uint32_t x)\n{\n\tx ^= SALT;\n", part);
	add(&t, calls.at, calls.length);
	addf(&t, "\treturn x;\n}\n");
	seal(&t);
	snprintf(name, sizeof name, "%s/part_%" PRIu64 ".c", path, part);
	save(name, &t);
	free(t.at);
	free(calls.at);
	return x;
}

static void save_in(const char *path, const char *file, const struct text *t)
{
	char name[512];
	snprintf(name, sizeof name, "%s/%s", path, file);
	save(name, t);
}

/* A project of so many files and a main that prints what they compute; make links it to the program beside its folder. Every file has the
 * salt in it, so that no object of an earlier time is right. */
static void make_project(uint64_t size, uint64_t seed, const char *path)
{
	struct random r = {seed};
	struct text header = {0}, start = {0}, rules = {0};
	uint32_t x = 1;
	make_directory(path);
	addf(&start, "#include <stdint.h>\n#include <stdio.h>\n\n");
	addf(&rules, "CFLAGS = -O2\nOBJECTS = main.o");
	for (uint64_t i = 0; i < size; i++) {
		x = make_part(&r, i, path, x);
		addf(&start, "uint32_t part_%" PRIu64 "(uint32_t);\n", i);
		addf(&rules, " part_%" PRIu64 ".o", i);
	}
	addf(&start, "\nint main(void)\n{\n\tuint32_t x = 1;\n");
	for (uint64_t i = 0; i < size; i++)
		addf(&start, "\tx = part_%" PRIu64 "(x);\n", i);
	addf(&start, "\tprintf(\"%%u\\n\", (unsigned)x);\n\treturn 0;\n}\n");
	addf(&rules, "\n../program: $(OBJECTS)\n\t$(CC) -o $@ $(OBJECTS)\n.c.o:\n\t$(CC) $(CFLAGS) -c $<\n$(OBJECTS): salt.h\n");
	seal(&start);
	seal(&rules);
	addf(&header, "#define SALT %uu\n", (unsigned)(uint32_t)salt);
	save_in(path, "main.c", &start);
	save_in(path, "Makefile", &rules);
	save_in(path, "salt.h", &header);
	answer("answer-program", "%u\n", (unsigned)x);
}

enum { SYMBOLS = 1000, LINKS = 4, STEPS = 100000 };

/* Sources of so many objects for the assembler, each of SYMBOLS nodes that name LINKS nodes of any object, and a main that walks from node to
 * node: the answer is the sum of the numbers on its way. */
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
		next[i] = below(&r, nodes);
	for (uint32_t part = 0; part < size; part++) {
		struct text t = {0};
		addf(&t, "\t.data\n\t.balign 16\n");
		for (uint32_t i = part * SYMBOLS; i < (part + 1) * SYMBOLS; i++) {
			addf(&t, "\t.globl node_%u\nnode_%u:\n\t.dc.a ", i, i);
			for (unsigned link = 0; link < LINKS; link++)
				addf(&t, "node_%u, ", next[i * LINKS + link]);
			addf(&t, "%u\n", i);
		}
		addf(&t, "\t.section .note.GNU-stack,\"\"\n");
		seal(&t);
		snprintf(name, sizeof name, "%s/part_%u.s", path, part);
		save(name, &t);
		free(t.at);
	}
	uint64_t walked = 0, x = (uint32_t)salt, at = 0;
	for (unsigned i = 0; i < STEPS; i++) {
		walked += at;
		at = next[at * LINKS + (x >> 16) % LINKS];
		x = (x * 1103515245u + 12345u) & 0xffffffff;
	}
	free(next);
	addf(&start, "#include <stdint.h>\n#include <stdio.h>\nstruct node {\n\tstruct node *next[%d];\n\tuintptr_t number;\n};\n"
		     "extern struct node node_0;\nint main(void)\n{\n\tuint64_t walked = 0, x = %u;\n", LINKS, (unsigned)(uint32_t)salt);
	addf(&start, "\tstruct node *at = &node_0;\n\tfor (unsigned i = 0; i < %d; i++) {\n\t\twalked += at->number;\n"
		     "\t\tat = at->next[(x >> 16) %% %d];\n\t\tx = (x * 1103515245u + 12345u) & 0xffffffff;\n\t}\n"
		     "\tprintf(\"%%llu\\n\", (unsigned long long)walked);\n\treturn 0;\n}\n", STEPS, LINKS);
	save_in(path, "main.c", &start);
	answer("answer-program", "%" PRIu64 "\n", walked);
}

#define NEEDLE "xylophone"

/* One file in an archive for tar, of the format ustar of POSIX: a head of 512 bytes, and the file in blocks of as many. */
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
	add(archive, head, sizeof head);
	add(archive, t->at, t->length);
	size_t rest = (512 - t->length % 512) % 512;
	memset(room_for(archive, rest), 0, rest);
	archive->length += rest;
}

/* One file of the tree; a needle is a line of its own kind. */
static void make_leaf(struct text *archive, struct random *r, const char *name, int needle, struct text *needles, int salted)
{
	struct text t = {0};
	size_t before;
	add_prose(&t, r, 200 + below(r, 3600));
	if (needle) {
		before = t.length;
		addf(&t, "%s %016" PRIx64 "\n", NEEDLE, draw(r));
		add(needles, t.at + before, t.length - before);
	}
	if (!salted)
		seal(&t);
	if (archive != NULL)
		archive_file(archive, name, &t);
	else if (salted || access(name, F_OK) != 0)
		save(name, &t);
	free(t.at);
}

/* So many files in directories of 100, and a hundredth more that the salt makes; every 50th has a line to be found. Those of the seed that
 * an earlier time has left are as they were: what was read or archived since has not changed them. All of them go to an archive where there is one. */
static void make_files(uint64_t size, uint64_t seed, const char *path, struct text *archive)
{
	struct random r = {seed}, salted = {salt};
	struct text needles = {0};
	uint64_t more = 1 + size / 100;
	char name[512];
	if (archive == NULL)
		make_spread(path);
	for (uint64_t i = 0; i < size; i++) {
		if (i % 100 == 0 && archive == NULL) {
			snprintf(name, sizeof name, "%s/folder_%" PRIu64, path, i / 100);
			make_directory(name);
		}
		snprintf(name, sizeof name, "%s/folder_%" PRIu64 "/%s_%" PRIu64 ".txt", path, i / 100, words[any_word(&r)], i);
		make_leaf(archive, &r, name, i % 50 == 0, &needles, 0);
	}
	snprintf(name, sizeof name, "%s/salted", path);
	if (archive == NULL)
		make_directory(name);
	for (uint64_t i = 0; i < more; i++) {
		snprintf(name, sizeof name, "%s/salted/%" PRIu64 ".txt", path, i);
		make_leaf(archive, &salted, name, 1, &needles, 1);
	}
	answer_lines("answer-needles", &needles);
	answer("answer-files", "%" PRIu64 "\n", size + more);
}

static void make_tree(uint64_t size, uint64_t seed, const char *path)
{
	make_files(size, seed, path, NULL);
}

/* The same files in an archive that is the path. */
static void make_archive(uint64_t size, uint64_t seed, const char *path)
{
	struct text archive = {0};
	make_files(size, seed, ".", &archive);
	memset(room_for(&archive, 1024), 0, 1024);
	archive.length += 1024;
	save(path, &archive);
}

enum { FILES = 300, EDITED = 3 };

/* A stream for git fast-import: FILES files, of which each commit edits EDITED in one paragraph; the last commit has the salt. */
static void make_commits(uint64_t size, uint64_t seed, const char *path)
{
	struct random r = {seed};
	struct text t = {0}, *file = calloc(FILES, sizeof *file);
	if (file == NULL)
		die("no memory");
	for (uint64_t i = 0; i < size; i++) {
		unsigned edited = i == 0 ? FILES : EDITED;
		addf(&t, "commit refs/heads/main\ncommitter %s <%s@example.org> %" PRIu64 " +0000\ndata <<END\n", words[i % 37],
		     words[i % 37], 1700000000 + i * 1000);
		add_prose(&t, &r, 60);
		addf(&t, "END\n");
		for (unsigned e = 0; e < edited; e++) {
			unsigned which = i == 0 ? e : below(&r, FILES / EDITED) * EDITED + e;
			struct text *f = &file[which];
			if (i == 0)
				for (unsigned line = 0; line < 25; line++)
					add_prose(f, &r, 70);
			struct text edit = {0};
			add_prose(&edit, &r, 100);
			size_t at = below(&r, (uint32_t)(f->length - edit.length));
			memcpy(f->at + at, edit.at, edit.length);
			free(edit.at);
			addf(&t, "M 100644 inline folder_%u/%s_%u.txt\ndata %zu\n", which % 20, words[which + 500], which, f->length);
			add(&t, f->at, f->length);
			add(&t, "\n", 1);
		}
	}
	seal(&t);
	addf(&t, "commit refs/heads/main\ncommitter salt <salt@example.org> 1800000000 +0000\ndata <<END\nThe last\nEND\n"
		 "M 100644 inline salt\ndata 17\n%016" PRIx64 "\n\n", salt);
	save(path, &t);
	answer("answer-commits", "%" PRIu64 "\n", size + 1);
	answer("answer-salt", "%016" PRIx64 "\n", salt);
}

#endif
