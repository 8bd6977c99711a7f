/* SQLite, in the process of the workload: a file with a write-ahead log, synced at each commit. */
#ifndef GRITSTONE_DB_SQLITE_H
#define GRITSTONE_DB_SQLITE_H

#include "engine.h"

enum { LITE_OK = 0, LITE_ROW = 100, LITE_DONE = 101, LITE_OPEN = 2 | 4 /* READWRITE, CREATE */, LITE_WAIT_MS = 60000 };
#define LITE_FILE "sqlite.db"

/* The library's functions: result type, name after sqlite3_, arguments. */
#define LITE_FUNCTIONS(F)                                                                                                                  \
	F(const char *, libversion, (void))                                                                                                \
	F(int, open_v2, (const char *, void **, int, const char *))                                                                        \
	F(int, close, (void *))                                                                                                            \
	F(int, busy_timeout, (void *, int))                                                                                                \
	F(int, exec, (void *, const char *, int (*)(void *, int, char **, char **), void *, char **))                                      \
	F(int, prepare_v2, (void *, const char *, int, void **, const char **))                                                            \
	F(int, finalize, (void *))                                                                                                         \
	F(int, bind_int64, (void *, int, long long))                                                                                       \
	F(int, bind_parameter_count, (void *))                                                                                             \
	F(int, step, (void *))                                                                                                             \
	F(int, reset, (void *))                                                                                                            \
	F(int, changes, (void *))                                                                                                          \
	F(long long, column_int64, (void *, int))                                                                                          \
	F(const unsigned char *, column_text, (void *, int))                                                                               \
	F(const char *, errmsg, (void *))

#define LITE_POINTER(result, name, arguments) result(*name) arguments;
static struct {
	LITE_FUNCTIONS(LITE_POINTER)
} lite;

struct lite_database {
	void *handle;
	struct {
		void *prepared;
		const char *columns;
		int arguments;
	} statement[MAX_STATEMENTS];
};

static const char *lite_synchronous;

static int lite_load(struct context *c)
{
	void *library = load_library(c, "libsqlite3.so.0", "libsqlite3-0");
	int ok = library != NULL;
#define LITE_FIND(result, name, arguments) ok = ok && find_function(library, "sqlite3_" #name, &lite.name);
	LITE_FUNCTIONS(LITE_FIND)
	if (library != NULL && !ok)
		failed_because(c, "dlsym", "libsqlite3.so.0 lacks a function that is used");
	return ok;
}

/* Callback: appends a PRAGMA's value to a text of 256 bytes. */
static int lite_append_setting(void *text, int columns, char **value, char **name)
{
	size_t length = strlen(text);
	if (columns == 1)
		snprintf((char *)text + length, 256 - length, "%s%s=%s", length > 0 ? ", " : "", name[0], value[0] != NULL ? value[0] : "");
	return 0;
}

static struct database *lite_connect(struct context *c)
{
	struct lite_database *d = calloc(1, sizeof *d);
	char sql[128];
	if (d == NULL || lite.open_v2(LITE_FILE, &d->handle, LITE_OPEN, NULL) != LITE_OK) {
		failed_because(c, "sqlite3_open", "%s", d != NULL ? lite.errmsg(d->handle) : "no memory");
		return NULL;
	}
	lite.busy_timeout(d->handle, LITE_WAIT_MS);
	snprintf(sql, sizeof sql, "PRAGMA journal_mode=WAL; PRAGMA synchronous=%s", lite_synchronous);
	if (lite.exec(d->handle, sql, NULL, NULL, NULL) != LITE_OK) {
		failed_because(c, "sqlite3_exec", "%s", lite.errmsg(d->handle));
		return NULL;
	}
	return (struct database *)d;
}

static int lite_start(struct context *c)
{
	char settings[256] = "";
	if (!lite_load(c))
		return 0;
	lite_synchronous = parameter(c, "synchronous", "FULL");
	struct lite_database *d = (struct lite_database *)lite_connect(c);
	if (d == NULL)
		return 0;
	lite.exec(d->handle, "PRAGMA journal_mode; PRAGMA synchronous; PRAGMA page_size; PRAGMA cache_size; PRAGMA wal_autocheckpoint",
		  lite_append_setting, settings, NULL);
	note(c, "remark", "SQLite %s: %s.", lite.libversion(), settings);
	if (strstr(settings, "journal_mode=wal") == NULL)
		failed_because(c, "sqlite", "no write-ahead log: %s", settings);
	/* 2 is FULL, 3 EXTRA; below, commits do not sync the log */
	if (strstr(settings, "synchronous=2") == NULL && strstr(settings, "synchronous=3") == NULL)
		note(c, "stand_in", "With synchronous=%s a commit does not wait until its log is on the disk.", lite_synchronous);
	lite.close(d->handle);
	free(d);
	return 1;
}

static int lite_prepare(struct database *database, int number, const char *sql, const char *columns)
{
	struct lite_database *d = (struct lite_database *)database;
	d->statement[number].columns = columns;
	if (lite.prepare_v2(d->handle, sql, -1, &d->statement[number].prepared, NULL) != LITE_OK)
		return 0;
	d->statement[number].arguments = lite.bind_parameter_count(d->statement[number].prepared);
	return 1;
}

static int lite_execute(struct database *database, int number, const int64_t *arguments, struct query_result *query_result)
{
	struct lite_database *d = (struct lite_database *)database;
	void *prepared = d->statement[number].prepared;
	const char *columns = d->statement[number].columns;
	int status;
	*query_result = (struct query_result){0};
	for (int i = 0; i < d->statement[number].arguments; i++)
		lite.bind_int64(prepared, i + 1, arguments[i]);
	while ((status = lite.step(prepared)) == LITE_ROW && columns != NULL) {
		uint64_t row = EMPTY_DIGEST;
		for (int i = 0; columns[i] != '\0'; i++)
			row = columns[i] == 'i' ? digest_column(query_result, row, lite.column_int64(prepared, i))
						: digest_text(row, (const char *)lite.column_text(prepared, i));
		query_result->digest += row;
		query_result->rows++;
	}
	if (columns == NULL)
		query_result->rows = lite.changes(d->handle);
	lite.reset(prepared);
	return status == LITE_DONE;
}

/* An incomplete checkpoint succeeds with a nonzero column "busy". */
static int lite_is_busy(void *unused, int columns, char **value, char **name)
{
	(void)unused;
	return columns > 0 && strcmp(name[0], "busy") == 0 && value[0] != NULL && strcmp(value[0], "0") != 0;
}

static int lite_script(struct database *database, const char *sql)
{
	return lite.exec(((struct lite_database *)database)->handle, sql, lite_is_busy, NULL, NULL) == LITE_OK;
}

static const char *lite_error_text(struct database *database) { return lite.errmsg(((struct lite_database *)database)->handle); }

static pid_t lite_server(struct database *database)
{
	(void)database;
	return 0;
}

static void lite_disconnect(struct database *database)
{
	struct lite_database *d = (struct lite_database *)database;
	for (int i = 0; i < MAX_STATEMENTS; i++)
		lite.finalize(d->statement[i].prepared);
	lite.close(d->handle);
	free(d);
}

static void lite_stop(struct context *c)
{
	(void)c;
	remove(LITE_FILE);
}

static const struct engine sqlite = {.name = "sqlite",
				     .start = lite_start,
				     .connect = lite_connect,
				     .prepare = lite_prepare,
				     .execute = lite_execute,
				     .script = lite_script,
				     .error = lite_error_text,
				     .server = lite_server,
				     .disconnect = lite_disconnect,
				     .stop = lite_stop,
				     .begin = "BEGIN",
				     .begin_write = "BEGIN IMMEDIATE",
				     .begin_exclusive = "BEGIN EXCLUSIVE",
				     .analyze = "ANALYZE",
				     .checkpoint = "PRAGMA wal_checkpoint(TRUNCATE);",
				     .vacuum = "VACUUM;",
				     .drop_index = "DROP INDEX entry_account;"};

#endif
