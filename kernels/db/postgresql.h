/* PostgreSQL as a server of the launch: a fresh cluster, a socket in its directory, no network, the engine's own settings but for those that
 * parameters name. Or, with dsn= as libpq takes it, a schema on a server that is there.
 */
#ifndef GRITSTONE_DB_POSTGRESQL_H
#define GRITSTONE_DB_POSTGRESQL_H

#include "external_server.h"
#include "server.h"

enum { PQ_OK = 0, PQ_COMMAND_OK = 1, PQ_TUPLES_OK = 2, PQ_INT4 = 23, PQ_NUMBER = 24, PQ_SETTINGS = 8 };
#define PQ_HOME "/var/lib/postgresql"
/* The server has its data in its directory and the socket in there; we find that through our own directory, since a long path is no address. */
#define PQ_CONNECTION "host=/proc/self/cwd/" SERVER_ROOM "/data user=gritstone dbname=postgres connect_timeout=60 options='-c client_min_messages=error'"

/* The functions of the library that are used: what each returns, its name behind PQ, its arguments. */
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

/* Locks by which launches know each other's schemas, and what these say of themselves. */
#define PQ_CLASS "1735551092"
#define PQ_MARK "made by gritstone for one launch"
static void *guest_keeper;

struct pq_database {
	void *handle;
	struct {
		const char *columns;
		char *text; /* what is executed as it stands; NULL: it was prepared under its number */
		int arguments;
	} statement[MOST_STATEMENTS];
};

/* What decides on durability and memory, and is the engine's default unless a parameter says otherwise. */
static const char *const pq_settings[PQ_SETTINGS] = {"fsync", "synchronous_commit", "full_page_writes", "wal_sync_method",
						     "shared_buffers", "wal_level", "max_wal_size", "autovacuum"};

static int pq_load(struct context *c)
{
	void *library = load_library(c, "libpq.so.5", "libpq5");
	int there = library != NULL;
#define PQ_FIND(result, name, arguments) there = there && find_function(library, "PQ" #name, &pq.name);
	PQ_FUNCTIONS(PQ_FIND)
	if (library != NULL && !there)
		failed_because(c, "dlsym", "libpq.so.5 lacks a function that is used");
	return there;
}

/* Whether a result is well, which is not needed any more. */
static int pq_well(void *result)
{
	int status = pq.resultStatus(result);
	pq.clear(result);
	return status == PQ_COMMAND_OK || status == PQ_TUPLES_OK;
}

static int pq_does(void *handle, const char *sql) { return pq_well(pq.exec(handle, sql)); }

/* A connection, to be asked whether it is one. */
static void *pq_open(void)
{
	char sql[128];
	void *handle = pq.connectdb(guest_dsn != NULL ? guest_dsn : PQ_CONNECTION);
	snprintf(sql, sizeof sql, "SET client_min_messages = error; SET search_path = %s", guest_schema);
	if (guest_dsn != NULL && pq.status(handle) == PQ_OK)
		pq_does(handle, sql); /* a schema that is missing is found missing by the first that needs it */
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

/* Until it takes connections. Whether it does. */
static int pq_answers(struct context *c)
{
	for (int waited = 0; waited < SERVER_PATIENCE_S * 1000000 / SERVER_LOOK_US; waited++) {
		void *handle = pq.connectdb(PQ_CONNECTION);
		int answers = pq.status(handle) == PQ_OK;
		pq.finish(handle);
		if (answers || !server_lives(c))
			return answers;
		usleep(SERVER_LOOK_US);
	}
	failed_because(c, "server", "it takes no connections after %d s: %s", SERVER_PATIENCE_S, last_words());
	return 0;
}

/* What the server itself says of its settings; what keeps a commit from being durable stands in for the work. */
static void pq_tell_settings(struct context *c)
{
	char text[512] = "", sql[64];
	void *handle = pq_open();
	for (int i = 0; i < PQ_SETTINGS; i++) {
		snprintf(sql, sizeof sql, "SHOW %s", pq_settings[i]);
		void *said = pq.exec(handle, sql);
		const char *value = pq.resultStatus(said) == PQ_TUPLES_OK ? pq.getvalue(said, 0, 0) : "unknown";
		snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s=%s", i > 0 ? ", " : "", pq_settings[i], value);
		/* fsync and synchronous_commit */
		if (i < 2 && strcmp(value, "on") != 0)
			note(c, "stand_in", "With %s=%s a commit does not wait until its log is on the disk.", pq_settings[i], value);
		pq.clear(said);
	}
	note(c, "remark", "PostgreSQL %s, libpq %d: %s.", pq.parameterStatus(handle, "server_version"), pq.libVersion(), text);
	pq.finish(handle);
}

/* Starts a server on the data that is there. Whether it takes connections. */
static int pq_serve(struct context *c)
{
	static char setting[PQ_SETTINGS][96];
	char *serve[8 + 2 * PQ_SETTINGS] = {(char *)parameter(c, "postgres", "/usr/bin/postgres"), "-D", "data", "-c", "listen_addresses=", "-c",
					    "unix_socket_directories=."};
	int words = 7;
	for (int i = 0; i < PQ_SETTINGS; i++) {
		const char *value = parameter(c, pq_settings[i], "default");
		if (strcmp(value, "default") == 0)
			continue;
		snprintf(setting[i], sizeof *setting, "%s=%s", pq_settings[i], value);
		serve[words++] = "-c";
		serve[words++] = setting[i];
	}
	server_pid = execute_in_room(c, serve);
	if (server_pid <= 0 || !pq_answers(c))
		return 0;
	pq_tell_settings(c);
	return 1;
}

/* Removes the schemas of launches that are gone. Whether it could. */
static int pq_remove_left(struct context *c)
{
	char sql[128];
	int well = 1;
	void *left = pq.exec(guest_keeper, "SELECT nspname FROM pg_namespace WHERE nspname ~ '^gritstone_[0-9a-f]{8}$' AND "
					   "obj_description(oid, 'pg_namespace') = '" PQ_MARK "' AND nspowner = (SELECT oid FROM pg_roles WHERE rolname = "
					   "current_user) AND pg_try_advisory_lock(" PQ_CLASS ", ('x' || right(nspname, 8))::bit(32)::int)");
	for (int i = 0; i < pq.ntuples(left); i++) {
		snprintf(sql, sizeof sql, "DROP SCHEMA %s CASCADE", pq.getvalue(left, i, 0));
		if (!(well = pq_does(guest_keeper, sql)))
			failed_because(c, "DROP SCHEMA", "%s", pq.errorMessage(guest_keeper));
	}
	pq.clear(left);
	return well;
}

/* Removes the schema of this launch, also where that fails. */
static void pq_move_out(void)
{
	char sql[128];
	snprintf(sql, sizeof sql, "DROP SCHEMA IF EXISTS %s CASCADE", guest_schema);
	if (guest_keeper == NULL || guest_process != getpid())
		return;
	if (!pq_does(guest_keeper, sql))
		fprintf(stderr, "the schema %s stays on the server: %s\n", guest_schema, pq.errorMessage(guest_keeper));
	pq.finish(guest_keeper);
}

/* Makes the schema of this launch. Whether it is there. */
static int pq_move_in(struct context *c)
{
	char sql[256];
	guest_keeper = pq_open();
	if (pq.status(guest_keeper) != PQ_OK) {
		skip(c, "The server of dsn= cannot be reached: %s", pq.errorMessage(guest_keeper));
		guest_keeper = NULL;
		return 0;
	}
	atexit(pq_move_out);
	if (!pq_remove_left(c))
		return 0;
	snprintf(sql, sizeof sql, "SELECT pg_advisory_lock(" PQ_CLASS ", %d); CREATE SCHEMA %s; COMMENT ON SCHEMA %s IS '" PQ_MARK "'",
		 (int)guest_number, guest_schema, guest_schema);
	if (pq_does(guest_keeper, sql))
		return 1;
	failed_because(c, "CREATE SCHEMA", "%s", pq.errorMessage(guest_keeper));
	return 0;
}


static int pq_start(struct context *c)
{
	if (is_guest(c, pq_settings, PQ_SETTINGS)) {
		if (!pq_load(c) || !pq_move_in(c))
			return 0;
		pq_tell_settings(c);
		return 1;
	}
	char initdb[4096];
	const char *postgres = parameter(c, "postgres", "/usr/bin/postgres"), *slash = strrchr(postgres, '/');
	/* it stands beside the server */
	snprintf(initdb, sizeof initdb, "%.*s/initdb", slash != NULL ? (int)(slash - postgres) : 0, postgres);
	char *const make[] = {initdb, "-D", "data", "--no-locale", "-E", "UTF8", "-A", "trust", "-U", "gritstone", "--no-sync", NULL};
	return pq_load(c) && make_room(c, "postgres", PQ_HOME) && finish_in_room(c, "initdb", make) && pq_serve(c);
}

/* A statement without arguments and answers is executed as it stands, as clients begin and end transactions. */
static int pq_prepare(struct database *database, int number, const char *sql, const char *columns)
{
	static const unsigned types[MOST_ARGUMENTS] = {PQ_INT4, PQ_INT4, PQ_INT4, PQ_INT4};
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
	return pq_well(pq.prepare(d->handle, name, text, arguments, types));
}

static int pq_execute(struct database *database, int number, const int64_t *arguments, struct answer *answer)
{
	struct pq_database *d = (struct pq_database *)database;
	const char *columns = d->statement[number].columns, *value[MOST_ARGUMENTS];
	char text[MOST_ARGUMENTS][PQ_NUMBER], name[PQ_NUMBER];
	*answer = (struct answer){0};
	if (d->statement[number].text != NULL)
		return pq_well(pq.exec(d->handle, d->statement[number].text));
	for (int i = 0; i < d->statement[number].arguments; i++) {
		snprintf(text[i], PQ_NUMBER, "%lld", (long long)arguments[i]);
		value[i] = text[i];
	}
	snprintf(name, sizeof name, "s%d", number);
	void *result = pq.execPrepared(d->handle, name, d->statement[number].arguments, value, NULL, NULL, 0);
	if (columns == NULL) {
		answer->rows = (long)number_of(pq.cmdTuples(result));
		return pq_well(result);
	}
	answer->rows = pq.ntuples(result);
	for (int at = 0; at < answer->rows; at++) {
		uint64_t row = NOTHING;
		for (int i = 0; columns[i] != '\0'; i++) {
			const char *said = pq.getvalue(result, at, i);
			row = columns[i] == 'i' ? take_number(answer, row, number_of(said)) : with_text(row, said);
		}
		answer->digest += row;
	}
	return pq_well(result);
}

static int pq_script(struct database *database, const char *sql)
{
	return pq_well(pq.exec(((struct pq_database *)database)->handle, sql));
}

static const char *pq_why(struct database *database) { return pq.errorMessage(((struct pq_database *)database)->handle); }

static pid_t pq_server(struct database *database)
{
	return guest_dsn != NULL ? 0 : pq.backendPID(((struct pq_database *)database)->handle);
}

static void pq_disconnect(struct database *database)
{
	struct pq_database *d = (struct pq_database *)database;
	for (int i = 0; i < MOST_STATEMENTS; i++)
		free(d->statement[i].text);
	pq.finish(d->handle);
	free(d);
}

/* A fast shutdown. */
static void pq_stop(struct context *c)
{
	if (guest_dsn == NULL)
		stop_server(c, SIGINT);
}

static const struct engine postgresql = {.name = "postgresql",
					 .start = pq_start,
					 .connect = pq_connect,
					 .prepare = pq_prepare,
					 .execute = pq_execute,
					 .script = pq_script,
					 .why = pq_why,
					 .server = pq_server,
					 .disconnect = pq_disconnect,
					 .stop = pq_stop,
					 .begin = "BEGIN",
					 .begin_to_write = "BEGIN",
					 .begin_alone = "BEGIN",
					 .lock = "LOCK TABLE",
					 .lock_each = {"", ""},
					 .lock_all = {" IN SHARE MODE", " IN EXCLUSIVE MODE"},
					 .analyze = "ANALYZE",
					 .names_tables = 1,
					 .checkpoint = "CHECKPOINT;",
					 .vacuum = "VACUUM account;",
					 .drop_index = "DROP INDEX entry_account;"};

#endif
