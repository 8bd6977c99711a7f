/* Interface of a database engine: create an empty database, connect, prepare and execute statements.
 *
 * The engine's client library is loaded by dlopen(3), and its version is noted with the result. Statements have `?` for integer arguments,
 * and declare the types of their columns; results are folded into a digest, so that results of any length can be compared with a model.
 */
#ifndef GRITSTONE_DB_ENGINE_H
#define GRITSTONE_DB_ENGINE_H

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../runtime/kernel.h"

enum { MAX_STATEMENTS = 32, MAX_ARGUMENTS = 4 };

/* Result of a statement. */
struct query_result {
	uint64_t digest; /* sum of the digests of all rows, independent of order */
	long rows; /* returned or, without columns, changed */
	int64_t number; /* value of the last integer column */
};

struct database; /* a connection */

struct engine {
	const char *name;

	/* Creates an empty database, and starts the server if there is one. Returns 0 on failure, after failed() or skip(). */
	int (*start)(struct context *);

	/* Returns NULL on failure. */
	struct database *(*connect)(struct context *);

	/* Prepares a statement under a number. `columns`: `i` for an integer, `t` for a text; NULL if it returns no rows. Returns 0 on
	 * failure. */
	int (*prepare)(struct database *, int number, const char *sql, const char *columns);

	/* Returns 0 on failure. */
	int (*execute)(struct database *, int number, const int64_t *arguments, struct query_result *);

	/* Executes several statements without results, each with its semicolon. Returns 0 on failure. */
	int (*script)(struct database *, const char *sql);

	/* Message of the last failure. */
	const char *(*error)(struct database *);

	/* The server process of this connection; 0 if it is the caller's process or remote. */
	pid_t (*server)(struct database *);

	void (*disconnect)(struct database *);

	void (*stop)(struct context *);

	/* BEGIN of a transaction with row locks, of a concurrent writing one, and of one with table locks. Table locks: a keyword before
	 * the names, one after each and one after all, for reading and writing; lock is NULL if begin_exclusive locks the whole
	 * database. */
	const char *begin, *begin_write, *begin_exclusive, *lock, *lock_each[2], *lock_all[2];

	/* Releases table locks after a transaction; NULL if COMMIT does. */
	const char *unlock;

	/* Collects planner statistics; with analyze_takes_tables the tables' names follow. */
	const char *analyze;
	int analyze_takes_tables;

	/* Maintenance of oltp.c's table: write the log back to the tables, reclaim the space of deleted rows; NULL if the engine has none. */
	const char *checkpoint, *vacuum;

	/* Drops the index of bulk.c. */
	const char *drop_index;
};

static inline int analyze(const struct engine *engine, struct database *database, const char *tables)
{
	char sql[256];
	snprintf(sql, sizeof sql, "%s %s;", engine->analyze, engine->analyze_takes_tables ? tables : "");
	return engine->script(database, sql);
}

/* Row digests start with this value and fold in each column (after FNV, eight bytes at a time). */
#define EMPTY_DIGEST UINT64_C(14695981039346656037)

static inline uint64_t digest_number(uint64_t digest, int64_t number)
{
	digest = (digest ^ (uint64_t)number) * UINT64_C(0x9ddfea08eb382d69);
	return digest ^ (digest >> 47);
}

static inline uint64_t digest_text(uint64_t digest, const char *text)
{
	size_t length = strlen(text);
	int64_t word = 0;
	for (; length >= sizeof word; text += sizeof word, length -= sizeof word) {
		memcpy(&word, text, sizeof word);
		digest = digest_number(digest, word);
	}
	word = 0;
	memcpy(&word, text, length);
	return digest_number(digest_number(digest, word), (int64_t)length);
}

/* Folds in a column of the current row. */
static inline uint64_t digest_column(struct query_result *a, uint64_t row, int64_t number)
{
	a->number = number;
	return digest_number(row, number);
}

/* memcpy, since ISO C has no conversion from data to function pointers. */
static inline int find_function(void *library, const char *name, void *function)
{
	void *found = dlsym(library, name);
	memcpy(function, &found, sizeof found);
	return found != NULL;
}

/* Skips if the library is missing, and names its package. */
static inline void *load_library(struct context *c, const char *name, const char *package)
{
	void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
	if (library == NULL)
		skip(c, "It needs %s: apt-get install %s.", name, package);
	return library;
}

/* -1 if the text is not a number. */
static inline int64_t parse_number(const char *text)
{
	char *end;
	int64_t number = text != NULL ? strtoll(text, &end, 10) : -1;
	return text != NULL && *end == '\0' && end != text ? number : -1;
}

/* CPU time of a process; pid 0: of this one. */
static inline uint64_t process_cpu_ns(pid_t pid)
{
	clockid_t clock = CLOCK_PROCESS_CPUTIME_ID;
	struct timespec t;
	if ((pid != 0 && clock_getcpuclockid(pid, &clock) != 0) || clock_gettime(clock, &t) != 0)
		return 0;
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

#endif
