/* What the workloads of databases ask of an engine: to make an empty database, to connect, to prepare statements and to execute them.
 *
 * The library of each engine is loaded where the system has it, and is named with the result. A statement has `?` for its arguments,
 * which are integers, and says of which types its columns are; what it answers is folded into a digest, so that answers of any length
 * are compared with those of a model.
 */
#ifndef GRITSTONE_DB_ENGINE_H
#define GRITSTONE_DB_ENGINE_H

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../runtime/kernel.h"

enum { MOST_STATEMENTS = 32, MOST_ARGUMENTS = 4 };

/* What a statement has answered. */
struct answer {
	uint64_t digest; /* the sum of the digests of its rows, whatever their order */
	long rows;       /* that it returned or, without columns, changed */
	int64_t number;  /* the last that is an integer */
};

struct database; /* a connection */

struct engine {
	const char *name;

	/* Makes an empty database, and starts its server where it has one. Says itself why not. Whether it is there. */
	int (*start)(struct context *);

	/* A connection, or NULL. */
	struct database *(*connect)(struct context *);

	/* Whether a statement is known from now on by this number. `columns`: `i` for each column that is an integer, `t` for a text; NULL where
	 * it returns no rows. */
	int (*prepare)(struct database *, int number, const char *sql, const char *columns);

	/* Whether it was executed. */
	int (*execute)(struct database *, int number, const int64_t *arguments, struct answer *);

	/* Several statements without answers, each with its semicolon. */
	int (*script)(struct database *, const char *sql);

	/* Why the last call was refused. */
	const char *(*why)(struct database *);

	/* The process that works for this connection; 0 where it is the caller's. */
	pid_t (*server)(struct database *);

	void (*disconnect)(struct database *);

	/* Stops what start() has started. */
	void (*stop)(struct context *);

	/* How a transaction begins that locks rows, one of these that will write beside others, and one that locks tables. What locks them then: a word before their names, one after each
	 * and one after all, to read and to write; NULL where the beginning locks the whole database. */
	const char *begin, *begin_to_write, *begin_alone, *lock, *lock_each[2], *lock_all[2];

	/* What takes locks of tables back after the end of a transaction; NULL where that does. */
	const char *end_alone;

	/* What has it learn how its tables are filled, so that statements are planned by it; the tables are named behind it where `names_tables`. */
	const char *analyze;
	int names_tables;

	/* What brings all that was committed from the log into the tables, and what takes back the room of rows that are gone; NULL where it has none.
	 * Of the table of oltp.c. */
	const char *checkpoint, *vacuum;

	/* Takes the index of bulk.c away. */
	const char *drop_index;
};

static inline int analyze(const struct engine *engine, struct database *database, const char *tables)
{
	char sql[256];
	snprintf(sql, sizeof sql, "%s %s;", engine->analyze, engine->names_tables ? tables : "");
	return engine->script(database, sql);
}

/* The digest of a row begins with this, and takes in each of its values (after FNV, eight bytes at a time). */
#define NOTHING UINT64_C(14695981039346656037)

static inline uint64_t with_number(uint64_t digest, int64_t number)
{
	digest = (digest ^ (uint64_t)number) * UINT64_C(0x9ddfea08eb382d69);
	return digest ^ (digest >> 47);
}

static inline uint64_t with_text(uint64_t digest, const char *text)
{
	size_t length = strlen(text);
	int64_t word = 0;
	for (; length >= sizeof word; text += sizeof word, length -= sizeof word) {
		memcpy(&word, text, sizeof word);
		digest = with_number(digest, word);
	}
	word = 0;
	memcpy(&word, text, length);
	return with_number(with_number(digest, word), (int64_t)length);
}

/* Takes in a column of the current row. */
static inline uint64_t take_number(struct answer *a, uint64_t row, int64_t number)
{
	a->number = number;
	return with_number(row, number);
}

/* ISO C knows no way from a pointer to data to one to a function but by its bytes. */
static inline int find_function(void *library, const char *name, void *function)
{
	void *found = dlsym(library, name);
	memcpy(function, &found, sizeof found);
	return found != NULL;
}

/* Loads a library; says which file it is, or skips and names the package. */
static inline void *load_library(struct context *c, const char *name, const char *package)
{
	void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
	if (library == NULL)
		skip(c, "It needs %s: apt-get install %s.", name, package);
	return library;
}

/* A number that stands in what a database says; -1 where there is none. */
static inline int64_t number_of(const char *text)
{
	char *end;
	int64_t number = text != NULL ? strtoll(text, &end, 10) : -1;
	return text != NULL && *end == '\0' && end != text ? number : -1;
}

/* CPU time of a process, ns; 0: of this one. */
static inline uint64_t cpu_of(pid_t pid)
{
	clockid_t clock = CLOCK_PROCESS_CPUTIME_ID;
	struct timespec t;
	if ((pid != 0 && clock_getcpuclockid(pid, &clock) != 0) || clock_gettime(clock, &t) != 0)
		return 0;
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

#endif
