/* PostgreSQL, started by the launch: a fresh cluster, a socket in its directory, no network, default settings except those given as
 * parameters. With dsn=, a libpq connection string, a schema on an external server.
 */
#ifndef GRITSTONE_DB_POSTGRESQL_H
#define GRITSTONE_DB_POSTGRESQL_H

#include "external_server.h"
#include "server.h"

enum { PQ_OK = 0, PQ_COMMAND_OK = 1, PQ_TUPLES_OK = 2, PQ_INT4 = 23, PQ_NUMBER = 24, PQ_SETTINGS = 8 };
#define PQ_HOME "/var/lib/postgresql"
/* The socket is in the data directory, addressed by /proc/self/cwd, since sun_path is short. */
#define PQ_CONNECTION "host=/proc/self/cwd/" SERVER_DIR "/data user=gritstone dbname=postgres connect_timeout=60 options='-c client_min_messages=error'"

/* The library's functions: result type, name after PQ, arguments. */
#define PQ_FUNCTIONS(F)                                                                                                                    \
	F(int, libVersion, (void))                                                                                                         \
	F(void *, connectdb, (const char *))                                                                                               \
	F(int, status, (const void *))                                                                                                     \
	F(char *, errorMessage, (const void *))                                                                                            \
	F(void *, exec, (void *, const char *))                                                                                            \
	F(void *, prepare, (void *, const char *, const char *, int, const unsigned *))                                                    \
	F(void *, execPrepared, (void *, const char *, int, const char *const *, const int *, const int *, int))                           \
	F(int, resultStatus, (const void *))                                                                                               \
	F(int, ntuples, (const void *))                                                                                                    \
	F(char *, getvalue, (const void *, int, int))                                                                                      \
	F(char *, cmdTuples, (void *))                                                                                                     \
	F(void, clear, (void *))                                                                                                           \
	F(int, backendPID, (const void *))                                                                                                 \
	F(const char *, parameterStatus, (const void *, const char *))                                                                     \
	F(void, finish, (void *))

#define PQ_POINTER(result, name, arguments) result(*name) arguments;
static struct {
	PQ_FUNCTIONS(PQ_POINTER)
} pq;

/* Class of the advisory locks, and comment on the schemas, of launches. */
#define PQ_CLASS "1735551092"
#define PQ_MARK "made by gritstone for one launch"
static void *lock_connection;

struct pq_database {
	void *handle;
	struct {
		const char *columns;
		char *text; /* for PQexec(); NULL: prepared under its number */
		int arguments;
	} statement[MAX_STATEMENTS];
};

/* Settings for durability and memory: parameters, with the engine's defaults. */
static const char *const pq_settings[PQ_SETTINGS] = {"fsync", "synchronous_commit", "full_page_writes", "wal_sync_method",
						     "shared_buffers", "wal_level", "max_wal_size", "autovacuum"};

static int pq_load(struct context *c)
{
	void *library = load_library(c, "libpq.so.5", "libpq5");
	int ok = library != NULL;
#define PQ_FIND(result, name, arguments) ok = ok && find_function(library, "PQ" #name, &pq.name);
	PQ_FUNCTIONS(PQ_FIND)
	if (library != NULL && !ok)
		failed_because(c, "dlsym", "libpq.so.5 lacks a function that is used");
	return ok;
}

/* Frees the result. */
static int pq_succeeded(void *result)
{
	int status = pq.resultStatus(result);
	pq.clear(result);
	return status == PQ_COMMAND_OK || status == PQ_TUPLES_OK;
}

static int pq_run(void *handle, const char *sql) { return pq_succeeded(pq.exec(handle, sql)); }

/* The caller checks the status of the connection. */
static void *pq_open(void)
{
	char sql[128];
	void *handle = pq.connectdb(external_dsn != NULL ? external_dsn : PQ_CONNECTION);
	snprintf(sql, sizeof sql, "SET client_min_messages = error; SET search_path = %s", schema_name);
	if (external_dsn != NULL && pq.status(handle) == PQ_OK)
		pq_run(handle, sql); /* a missing schema shows at first use */
	return handle;
}

static struct database *pq_connect(struct context *c)
{
	struct pq_database *d = calloc(1, sizeof *d);
	if (d == NULL) {
		failed(c, "calloc");
		return NULL;
	}
	d->handle = pq_open();
	if (pq.status(d->handle) == PQ_OK)
		return (struct database *)d;
	failed_because(c, "PQconnectdb", "%s", pq.errorMessage(d->handle));
	return NULL;
}

/* Waits until the server accepts connections. */
static int pq_await(struct context *c)
{
	for (int waited = 0; waited < SERVER_TIMEOUT_S * 1000000 / SERVER_POLL_US; waited++) {
		void *handle = pq.connectdb(PQ_CONNECTION);
		int accepts = pq.status(handle) == PQ_OK;
		pq.finish(handle);
		if (accepts || !server_is_alive(c))
			return accepts;
		usleep(SERVER_POLL_US);
	}
	failed_because(c, "server", "it does not accept connections after %d s: %s", SERVER_TIMEOUT_S, last_log_line());
	return 0;
}

/* Notes the server's actual settings, and a stand-in if commits are not durable. */
static void pq_note_settings(struct context *c)
{
	char text[512] = "", sql[64];
	void *handle = pq_open();
	for (int i = 0; i < PQ_SETTINGS; i++) {
		snprintf(sql, sizeof sql, "SHOW %s", pq_settings[i]);
		void *row = pq.exec(handle, sql);
		const char *value = pq.resultStatus(row) == PQ_TUPLES_OK ? pq.getvalue(row, 0, 0) : "unknown";
		snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s=%s", i > 0 ? ", " : "", pq_settings[i], value);
		/* fsync and synchronous_commit */
		if (i < 2 && strcmp(value, "on") != 0)
			note(c, "stand_in", "With %s=%s a commit does not wait until its log is on the disk.", pq_settings[i], value);
		pq.clear(row);
	}
	note(c, "remark", "PostgreSQL %s, libpq %d: %s.", pq.parameterStatus(handle, "server_version"), pq.libVersion(), text);
	pq.finish(handle);
}

/* Starts the server on the initialized cluster. Returns 0 on failure. */
static int pq_start_server(struct context *c)
{
	static char setting[PQ_SETTINGS][96];
	char *server_argv[8 + 2 * PQ_SETTINGS] = {(char *)parameter(c, "postgres", "/usr/bin/postgres"), "-D", "data", "-c", "listen_addresses=", "-c",
					    "unix_socket_directories=."};
	int words = 7;
	for (int i = 0; i < PQ_SETTINGS; i++) {
		const char *value = parameter(c, pq_settings[i], "default");
		if (strcmp(value, "default") == 0)
			continue;
		snprintf(setting[i], sizeof *setting, "%s=%s", pq_settings[i], value);
		server_argv[words++] = "-c";
		server_argv[words++] = setting[i];
	}
	server_pid = spawn_in_namespaces(c, server_argv);
	if (server_pid <= 0 || !pq_await(c))
		return 0;
	pq_note_settings(c);
	return 1;
}

/* Drops the schemas of killed launches. Returns 0 on failure. */
static int pq_drop_stale_schemas(struct context *c)
{
	char sql[128];
	int ok = 1;
	void *stale = pq.exec(lock_connection, "SELECT nspname FROM pg_namespace WHERE nspname ~ '^gritstone_[0-9a-f]{8}$' AND "
					   "obj_description(oid, 'pg_namespace') = '" PQ_MARK "' AND nspowner = (SELECT oid FROM pg_roles WHERE rolname = "
					   "current_user) AND pg_try_advisory_lock(" PQ_CLASS ", ('x' || right(nspname, 8))::bit(32)::int)");
	for (int i = 0; i < pq.ntuples(stale); i++) {
		snprintf(sql, sizeof sql, "DROP SCHEMA %s CASCADE", pq.getvalue(stale, i, 0));
		if (!(ok = pq_run(lock_connection, sql)))
			failed_because(c, "DROP SCHEMA", "%s", pq.errorMessage(lock_connection));
	}
	pq.clear(stale);
	return ok;
}

/* At exit, after failures too. */
static void pq_drop_schema(void)
{
	char sql[128];
	snprintf(sql, sizeof sql, "DROP SCHEMA IF EXISTS %s CASCADE", schema_name);
	if (lock_connection == NULL || schema_owner != getpid())
		return;
	if (!pq_run(lock_connection, sql))
		fprintf(stderr, "cannot drop the schema %s on the server: %s\n", schema_name, pq.errorMessage(lock_connection));
	pq.finish(lock_connection);
}

/* Returns 0 on failure. */
static int pq_create_schema(struct context *c)
{
	char sql[256];
	lock_connection = pq_open();
	if (pq.status(lock_connection) != PQ_OK) {
		skip(c, "The server of dsn= cannot be reached: %s", pq.errorMessage(lock_connection));
		lock_connection = NULL;
		return 0;
	}
	atexit(pq_drop_schema);
	if (!pq_drop_stale_schemas(c))
		return 0;
	snprintf(sql, sizeof sql, "SELECT pg_advisory_lock(" PQ_CLASS ", %d); CREATE SCHEMA %s; COMMENT ON SCHEMA %s IS '" PQ_MARK "'",
		 (int)schema_number, schema_name, schema_name);
	if (pq_run(lock_connection, sql))
		return 1;
	failed_because(c, "CREATE SCHEMA", "%s", pq.errorMessage(lock_connection));
	return 0;
}


static int pq_start(struct context *c)
{
	if (use_external_server(c, pq_settings, PQ_SETTINGS)) {
		if (!pq_load(c) || !pq_create_schema(c))
			return 0;
		pq_note_settings(c);
		return 1;
	}
	char initdb[4096];
	const char *postgres = parameter(c, "postgres", "/usr/bin/postgres"), *slash = strrchr(postgres, '/');
	/* in the directory of the server program */
	snprintf(initdb, sizeof initdb, "%.*s/initdb", slash != NULL ? (int)(slash - postgres) : 0, postgres);
	char *const make[] = {initdb, "-D", "data", "--no-locale", "-E", "UTF8", "-A", "trust", "-U", "gritstone", "--no-sync", NULL};
	return pq_load(c) && create_server_dir(c, "postgres", PQ_HOME) && run_in_namespaces(c, "initdb", make) && pq_start_server(c);
}

/* Statements without arguments and results, such as BEGIN and COMMIT, go through PQexec(). */
static int pq_prepare(struct database *database, int number, const char *sql, const char *columns)
{
	static const unsigned types[MAX_ARGUMENTS] = {PQ_INT4, PQ_INT4, PQ_INT4, PQ_INT4};
	struct pq_database *d = (struct pq_database *)database;
	char text[1024], name[PQ_NUMBER];
	size_t length = 0;
	int arguments = 0;
	for (; *sql != '\0' && length < sizeof text - 8; sql++)
		if (*sql == '?')
			length += (size_t)snprintf(text + length, 8, "$%d", ++arguments);
		else
			text[length++] = *sql;
	text[length] = '\0';
	d->statement[number].columns = columns;
	d->statement[number].arguments = arguments;
	if (arguments == 0 && columns == NULL)
		return (d->statement[number].text = strdup(text)) != NULL;
	snprintf(name, sizeof name, "s%d", number);
	return pq_succeeded(pq.prepare(d->handle, name, text, arguments, types));
}

static int pq_execute(struct database *database, int number, const int64_t *arguments, struct query_result *query_result)
{
	struct pq_database *d = (struct pq_database *)database;
	const char *columns = d->statement[number].columns, *value[MAX_ARGUMENTS];
	char text[MAX_ARGUMENTS][PQ_NUMBER], name[PQ_NUMBER];
	*query_result = (struct query_result){0};
	if (d->statement[number].text != NULL)
		return pq_succeeded(pq.exec(d->handle, d->statement[number].text));
	for (int i = 0; i < d->statement[number].arguments; i++) {
		snprintf(text[i], PQ_NUMBER, "%lld", (long long)arguments[i]);
		value[i] = text[i];
	}
	snprintf(name, sizeof name, "s%d", number);
	void *result = pq.execPrepared(d->handle, name, d->statement[number].arguments, value, NULL, NULL, 0);
	if (columns == NULL) {
		query_result->rows = (long)parse_number(pq.cmdTuples(result));
		return pq_succeeded(result);
	}
	query_result->rows = pq.ntuples(result);
	for (int r = 0; r < query_result->rows; r++) {
		uint64_t row = EMPTY_DIGEST;
		for (int i = 0; columns[i] != '\0'; i++) {
			const char *value = pq.getvalue(result, r, i);
			row = columns[i] == 'i' ? digest_column(query_result, row, parse_number(value)) : digest_text(row, value);
		}
		query_result->digest += row;
	}
	return pq_succeeded(result);
}

static int pq_script(struct database *database, const char *sql)
{
	return pq_succeeded(pq.exec(((struct pq_database *)database)->handle, sql));
}

static const char *pq_error_text(struct database *database) { return pq.errorMessage(((struct pq_database *)database)->handle); }

static pid_t pq_server(struct database *database)
{
	return external_dsn != NULL ? 0 : pq.backendPID(((struct pq_database *)database)->handle);
}

static void pq_disconnect(struct database *database)
{
	struct pq_database *d = (struct pq_database *)database;
	for (int i = 0; i < MAX_STATEMENTS; i++)
		free(d->statement[i].text);
	pq.finish(d->handle);
	free(d);
}

/* SIGINT: fast shutdown. */
static void pq_stop(struct context *c)
{
	if (external_dsn == NULL)
		stop_server(c, SIGINT);
}

static const struct engine postgresql = {.name = "postgresql",
					 .start = pq_start,
					 .connect = pq_connect,
					 .prepare = pq_prepare,
					 .execute = pq_execute,
					 .script = pq_script,
					 .error = pq_error_text,
					 .server = pq_server,
					 .disconnect = pq_disconnect,
					 .stop = pq_stop,
					 .begin = "BEGIN",
					 .begin_write = "BEGIN",
					 .begin_exclusive = "BEGIN",
					 .lock = "LOCK TABLE",
					 .lock_each = {"", ""},
					 .lock_all = {" IN SHARE MODE", " IN EXCLUSIVE MODE"},
					 .analyze = "ANALYZE",
					 .analyze_takes_tables = 1,
					 .checkpoint = "CHECKPOINT;",
					 .vacuum = "VACUUM account;",
					 .drop_index = "DROP INDEX entry_account;"};

#endif
