/* MariaDB, started by the launch: an empty data directory with a socket in it, no network, no accounts, default settings except those given
 * as parameters. With dsn=, an option file with a group [client], a database on an external server.
 *
 * The server has a thread per connection, so that CPU time is that of the whole process.
 */
#ifndef GRITSTONE_DB_MARIADB_H
#define GRITSTONE_DB_MARIADB_H

#include "external_server.h"
#include "server.h"

enum { MY_NUMBER = 8, MY_STRING = 254, MY_FOUND_ROWS = 2, MY_MULTI_STATEMENTS = 1 << 16, MY_SETTINGS = 5, MY_COLUMNS = 8, MY_TEXT = 256, MY_OPTION_FILE = 4, MY_OPTION_GROUP = 5 };
#define MY_SOCKET "/proc/self/cwd/" SERVER_DIR "/data/socket"

/* MYSQL_BIND of libmariadb.so.3. */
struct my_bind {
	unsigned long *length;
	char *is_null;
	void *buffer;
	char *error;
	void *row;
	void *functions[3];
	unsigned long buffer_length, offset, length_value;
	unsigned flags, pack_length;
	int type;
	char error_value, is_unsigned, long_data_used, is_null_value;
	void *extension;
};

/* The library's functions: result type, name after mysql_, arguments. */
#define MY_FUNCTIONS(F)                                                                                                                    \
	F(const char *, get_client_info, (void))                                                                                           \
	F(void *, init, (void *))                                                                                                          \
	F(int, optionsv, (void *, int, ...))                                                                                               \
	F(void *, real_connect, (void *, const char *, const char *, const char *, const char *, unsigned, const char *, unsigned long))   \
	F(const char *, get_server_info, (void *))                                                                                         \
	F(const char *, error, (void *))                                                                                                   \
	F(int, query, (void *, const char *))                                                                                              \
	F(int, next_result, (void *))                                                                                                      \
	F(void *, store_result, (void *))                                                                                                  \
	F(char **, fetch_row, (void *))                                                                                                    \
	F(void, free_result, (void *))                                                                                                     \
	F(void, close, (void *))                                                                                                           \
	F(void *, stmt_init, (void *))                                                                                                     \
	F(int, stmt_prepare, (void *, const char *, unsigned long))                                                                        \
	F(char, stmt_bind_param, (void *, struct my_bind *))                                                                               \
	F(char, stmt_bind_result, (void *, struct my_bind *))                                                                              \
	F(int, stmt_execute, (void *))                                                                                                     \
	F(int, stmt_store_result, (void *))                                                                                                \
	F(int, stmt_fetch, (void *))                                                                                                       \
	F(unsigned long long, stmt_affected_rows, (void *))                                                                                \
	F(char, stmt_free_result, (void *))                                                                                                \
	F(const char *, stmt_error, (void *))                                                                                              \
	F(char, stmt_close, (void *))

#define MY_POINTER(result, name, arguments) result(*name) arguments;
static struct {
	MY_FUNCTIONS(MY_POINTER)
} my;

struct my_database {
	void *handle, *last; /* last: last statement, which holds the error message */
	struct {
		const char *columns;
		char *text; /* for mysql_query(); NULL: prepared */
		void *prepared;
		long long argument[MAX_ARGUMENTS], number[MY_COLUMNS];
		char string[MY_COLUMNS][MY_TEXT];
		struct my_bind in[MAX_ARGUMENTS], out[MY_COLUMNS];
	} statement[MAX_STATEMENTS];
};

static struct my_database *my_lock_connection; /* holds the lock of this launch's database on an external server */

/* Settings for durability and memory: parameters, with the engine's defaults. */
static const char *const my_settings[MY_SETTINGS] = {"innodb_flush_log_at_trx_commit", "innodb_doublewrite", "innodb_flush_method",
						     "innodb_buffer_pool_size", "innodb_log_file_size"};

static int my_load(struct context *c)
{
	void *library = load_library(c, "libmariadb.so.3", "libmariadb3");
	int ok = library != NULL;
#define MY_FIND(result, name, arguments) ok = ok && find_function(library, "mysql_" #name, &my.name);
	MY_FUNCTIONS(MY_FIND)
	if (library != NULL && !ok)
		failed_because(c, "dlsym", "libmariadb.so.3 lacks a function that is used");
	return ok;
}

/* Returns NULL on failure; `error` has 256 bytes. */
static void *my_open(const char *database, char *error)
{
	const int is_local = external_dsn == NULL;
	void *handle = my.init(NULL);
	if (!is_local) {
		my.optionsv(handle, MY_OPTION_FILE, external_dsn);
		my.optionsv(handle, MY_OPTION_GROUP, "client");
	}
	if (my.real_connect(handle, NULL, is_local ? "gritstone" : NULL, NULL, database, 0, is_local ? MY_SOCKET : NULL, MY_FOUND_ROWS | MY_MULTI_STATEMENTS) != NULL)
		return handle;
	snprintf(error, 256, "%s", my.error(handle));
	my.close(handle);
	return NULL;
}

static struct database *my_connect(struct context *c)
{
	char error[256];
	struct my_database *d = calloc(1, sizeof *d);
	if (d != NULL && (d->handle = my_open(external_dsn != NULL ? schema_name : "gritstone", error)) != NULL)
		return (struct database *)d;
	failed_because(c, "mysql_real_connect", "%s", d != NULL ? error : "no memory");
	return NULL;
}

static int my_script(struct database *database, const char *sql)
{
	struct my_database *d = (struct my_database *)database;
	int refused = my.query(d->handle, sql);
	d->last = NULL;
	while (refused == 0) {
		void *result = my.store_result(d->handle);
		if (result != NULL)
			my.free_result(result);
		refused = my.next_result(d->handle); /* -1: no more */
	}
	return refused == -1;
}

/* Notes the server's actual settings, and a stand-in if commits are not durable. */
static void my_note_settings(struct context *c, void *handle)
{
	char text[512] = "", sql[64];
	for (int i = 0; i < MY_SETTINGS; i++) {
		snprintf(sql, sizeof sql, "SELECT @@%s", my_settings[i]);
		void *result = my.query(handle, sql) == 0 ? my.store_result(handle) : NULL;
		char **row = result != NULL ? my.fetch_row(result) : NULL;
		const char *value = row != NULL && row[0] != NULL ? row[0] : "unknown";
		snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s=%s", i > 0 ? ", " : "", my_settings[i], value);
		if ((i == 0 && strcmp(value, "1") != 0) || (i == 2 && strcmp(value, "nosync") == 0))
			note(c, "stand_in", "With %s=%s a commit does not wait until its log is on the disk.", my_settings[i], value);
		if (result != NULL)
			my.free_result(result);
	}
	note(c, "remark", "MariaDB %s, libmariadb %s: %s.", my.get_server_info(handle), my.get_client_info(), text);
}

/* Waits until the server accepts connections. */
static int my_await(struct context *c)
{
	char error[256] = "";
	for (int waited = 0; waited < SERVER_TIMEOUT_S * 1000000 / SERVER_POLL_US && server_is_alive(c); waited++) {
		struct my_database d = {.handle = my_open(NULL, error)};
		if (d.handle == NULL) {
			usleep(SERVER_POLL_US);
			continue;
		}
		my_note_settings(c, d.handle);
		int created = my_script((struct database *)&d, "CREATE DATABASE gritstone CHARACTER SET latin1 COLLATE latin1_bin;");
		if (!created)
			failed_because(c, "mariadb", "%s", my.error(d.handle));
		my.close(d.handle);
		return created;
	}
	failed_because(c, "server", "it does not accept connections: %s", error);
	return 0;
}

/* At exit, after failures too. */
static void my_drop_schema(void)
{
	char sql[64];
	snprintf(sql, sizeof sql, "DROP DATABASE IF EXISTS %s;", schema_name);
	if (schema_owner != getpid())
		return;
	if (!my_script((struct database *)my_lock_connection, sql))
		fprintf(stderr, "cannot drop the database %s on the server: %s\n", schema_name, my.error(my_lock_connection->handle));
	my.close(my_lock_connection->handle);
	free(my_lock_connection);
}

/* Drops the databases of killed launches, and creates this launch's. Returns 0 on failure. */
static int my_create_schema(struct context *c)
{
	char sql[512], error[256];
	struct my_database *connection = calloc(1, sizeof *connection);
	if (connection == NULL || (connection->handle = my_open(NULL, error)) == NULL) {
		skip(c, "The server of dsn= cannot be reached: %s", connection != NULL ? error : "no memory");
		return 0;
	}
	my_lock_connection = connection;
	atexit(my_drop_schema);
	void *stale = my.query(connection->handle, "SELECT table_schema FROM information_schema.tables WHERE table_name = 'made_by_gritstone' AND "
					      "table_schema REGEXP '^gritstone_[0-9a-f]{8}$' AND IS_FREE_LOCK(table_schema) = 1") == 0
			     ? my.store_result(connection->handle)
			     : NULL;
	int ok = stale != NULL;
	for (char **row; ok && (row = my.fetch_row(stale)) != NULL;) {
		snprintf(sql, sizeof sql, "DROP DATABASE %s;", row[0]);
		ok = my_script((struct database *)connection, sql);
	}
	if (stale != NULL)
		my.free_result(stale);
	snprintf(sql, sizeof sql, "DO GET_LOCK('%s', 0); CREATE DATABASE %s CHARACTER SET latin1 COLLATE latin1_bin; "
				  "CREATE TABLE %s.made_by_gritstone (id INTEGER);", schema_name, schema_name, schema_name);
	ok = ok && my_script((struct database *)connection, sql);
	if (!ok)
		failed_because(c, "mariadb", "%s", my.error(connection->handle));
	else
		my_note_settings(c, connection->handle);
	return ok;
}

static int my_start(struct context *c)
{
	static char setting[MY_SETTINGS][96], data[4200], temporary[] = "--tmpdir=.";
	char cwd[4096];
	if (!my_load(c))
		return 0;
	if (use_external_server(c, my_settings, MY_SETTINGS))
		return my_create_schema(c);
	if (!create_server_dir(c, "mysql", "/var/lib/mysql"))
		return 0;
	if (mkdir(SERVER_DIR "/data", 0700) != 0 ||
	    (server_account != NULL && chown(SERVER_DIR "/data", server_account->pw_uid, server_account->pw_gid) != 0)) {
		failed(c, "mkdir");
		return 0;
	}
	if (server_account == NULL && getcwd(cwd, sizeof cwd - 16) != NULL)
		snprintf(data, sizeof data, "--datadir=%s/" SERVER_DIR "/data", cwd);
	else
		snprintf(data, sizeof data, "--datadir=%s/data", server_home);
	char *server_argv[12 + MY_SETTINGS] = {(char *)parameter(c, "mariadbd", "/usr/sbin/mariadbd"), "--no-defaults", data, "--socket=socket", temporary,
					 "--skip-grant-tables", "--skip-networking", "--pid-file=pid", "--skip-log-bin"};
	for (int i = 0, words = 9; i < MY_SETTINGS; i++) {
		const char *value = parameter(c, my_settings[i], "default");
		if (strcmp(value, "default") == 0)
			continue;
		snprintf(setting[i], sizeof *setting, "--%s=%s", my_settings[i], value);
		server_argv[words++] = setting[i];
	}
	server_pid = spawn_in_namespaces(c, server_argv);
	return server_pid > 0 && my_await(c);
}

/* Statements without arguments and results go through mysql_query(): the prepared-statement protocol does not support all of them. */
static int my_prepare(struct database *database, int number, const char *sql, const char *columns)
{
	struct my_database *d = (struct my_database *)database;
	d->statement[number].columns = columns;
	if (columns == NULL && strchr(sql, '?') == NULL)
		return (d->statement[number].text = strdup(sql)) != NULL;
	void *prepared = d->last = d->statement[number].prepared = my.stmt_init(d->handle);
	if (prepared == NULL || my.stmt_prepare(prepared, sql, strlen(sql)) != 0)
		return 0;
	for (int i = 0; i < MAX_ARGUMENTS; i++)
		d->statement[number].in[i] = (struct my_bind){.buffer = &d->statement[number].argument[i], .type = MY_NUMBER};
	for (int i = 0; columns != NULL && columns[i] != '\0'; i++) {
		struct my_bind *out = &d->statement[number].out[i];
		*out = columns[i] == 'i' ? (struct my_bind){.buffer = &d->statement[number].number[i], .type = MY_NUMBER}
					 : (struct my_bind){.buffer = d->statement[number].string[i], .buffer_length = MY_TEXT, .type = MY_STRING};
		out->length = &out->length_value;
		out->is_null = &out->is_null_value;
		out->error = &out->error_value;
	}
	return my.stmt_bind_param(prepared, d->statement[number].in) == 0 &&
	       (columns == NULL || my.stmt_bind_result(prepared, d->statement[number].out) == 0);
}

static int my_execute(struct database *database, int number, const int64_t *arguments, struct query_result *query_result)
{
	struct my_database *d = (struct my_database *)database;
	const char *columns = d->statement[number].columns;
	void *prepared = d->last = d->statement[number].prepared;
	int fetched;
	*query_result = (struct query_result){0};
	if (d->statement[number].text != NULL)
		return my.query(d->handle, d->statement[number].text) == 0;
	for (int i = 0; arguments != NULL && i < MAX_ARGUMENTS; i++)
		d->statement[number].argument[i] = arguments[i];
	if (my.stmt_execute(prepared) != 0)
		return 0;
	if (columns == NULL) {
		query_result->rows = (long)my.stmt_affected_rows(prepared);
		return 1;
	}
	if (my.stmt_store_result(prepared) != 0)
		return 0;
	while ((fetched = my.stmt_fetch(prepared)) == 0) {
		uint64_t row = EMPTY_DIGEST;
		for (int i = 0; columns[i] != '\0'; i++) {
			char *text = d->statement[number].string[i];
			unsigned long length = d->statement[number].out[i].length_value;
			text[length < MY_TEXT ? length : MY_TEXT - 1] = '\0';
			row = columns[i] == 'i' ? digest_column(query_result, row, d->statement[number].number[i]) : digest_text(row, text);
		}
		query_result->digest += row;
		query_result->rows++;
	}
	my.stmt_free_result(prepared);
	return fetched == 100; /* no more rows */
}

static const char *my_error_text(struct database *database)
{
	struct my_database *d = (struct my_database *)database;
	return d->last != NULL ? my.stmt_error(d->last) : my.error(d->handle);
}

static pid_t my_server(struct database *database)
{
	(void)database;
	return server_pid; /* 0 for an external server */
}

static void my_disconnect(struct database *database)
{
	struct my_database *d = (struct my_database *)database;
	for (int i = 0; i < MAX_STATEMENTS; i++) {
		free(d->statement[i].text);
		if (d->statement[i].prepared != NULL)
			my.stmt_close(d->statement[i].prepared);
	}
	my.close(d->handle);
	free(d);
}

static void my_stop(struct context *c)
{
	if (external_dsn == NULL)
		stop_server(c, SIGTERM);
}

static const struct engine mariadb = {.name = "mariadb",
				      .start = my_start,
				      .connect = my_connect,
				      .prepare = my_prepare,
				      .execute = my_execute,
				      .script = my_script,
				      .error = my_error_text,
				      .server = my_server,
				      .disconnect = my_disconnect,
				      .stop = my_stop,
				      .begin = "BEGIN",
				      .begin_write = "BEGIN",
				      .begin_exclusive = "SET autocommit = 0",
				      .lock = "LOCK TABLES",
				      .lock_each = {" READ", " WRITE"},
				      .lock_all = {"", ""},
				      .unlock = "UNLOCK TABLES",
				      .analyze = "DO 0",
				      .vacuum = "ALTER TABLE account FORCE;",
				      .drop_index = "DROP INDEX entry_account ON entry;"};

#endif
