/* MariaDB as a server of the launch: an empty data directory, a socket in it, no network and no accounts, the engine's own settings but for
 * those that parameters name. Or, where dsn= is a file of options whose group [client] says how, a database on a server that is there.
 *
 * One process has a thread for each connection, so that the server's CPU time is that of the whole process.
 */
#ifndef GRITSTONE_DB_MARIADB_H
#define GRITSTONE_DB_MARIADB_H

#include "external_server.h"
#include "server.h"

enum { MY_NUMBER = 8, MY_STRING = 254, MY_FOUND_ROWS = 2, MY_MULTI_STATEMENTS = 1 << 16, MY_SETTINGS = 5, MY_COLUMNS = 8, MY_TEXT = 256, MY_OPTION_FILE = 4, MY_OPTION_GROUP = 5 };
#define MY_SOCKET "/proc/self/cwd/" SERVER_ROOM "/data/socket"

/* An argument or a column of a prepared statement, as the library's interface of version 3 has it. */
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

/* The functions of the library that are used: what each returns, its name behind mysql_, its arguments. */
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
	void *handle, *last; /* the statement that was executed last, which knows why it was refused */
	struct {
		const char *columns;
		char *text; /* what is executed as it stands; NULL: it was prepared */
		void *prepared;
		long long argument[MOST_ARGUMENTS], number[MY_COLUMNS];
		char string[MY_COLUMNS][MY_TEXT];
		struct my_bind in[MOST_ARGUMENTS], out[MY_COLUMNS];
	} statement[MOST_STATEMENTS];
};

static struct my_database *my_keeper; /* holds the lock of this launch's database on a server that is there */

/* What decides on durability and memory, and is the engine's default unless a parameter says otherwise. */
static const char *const my_settings[MY_SETTINGS] = {"innodb_flush_log_at_trx_commit", "innodb_doublewrite", "innodb_flush_method",
						     "innodb_buffer_pool_size", "innodb_log_file_size"};

static int my_load(struct context *c)
{
	void *library = load_library(c, "libmariadb.so.3", "libmariadb3");
	int there = library != NULL;
#define MY_FIND(result, name, arguments) there = there && find_function(library, "mysql_" #name, &my.name);
	MY_FUNCTIONS(MY_FIND)
	if (library != NULL && !there)
		failed_because(c, "dlsym", "libmariadb.so.3 lacks a function that is used");
	return there;
}

/* NULL where the server does not take it; `why` has room for 256 bytes. */
static void *my_open(const char *database, char *why)
{
	const int ours = guest_dsn == NULL;
	void *handle = my.init(NULL);
	if (!ours) {
		my.optionsv(handle, MY_OPTION_FILE, guest_dsn);
		my.optionsv(handle, MY_OPTION_GROUP, "client");
	}
	if (my.real_connect(handle, NULL, ours ? "gritstone" : NULL, NULL, database, 0, ours ? MY_SOCKET : NULL, MY_FOUND_ROWS | MY_MULTI_STATEMENTS) != NULL)
		return handle;
	snprintf(why, 256, "%s", my.error(handle));
	my.close(handle);
	return NULL;
}

static struct database *my_connect(struct context *c)
{
	char why[256];
	struct my_database *d = calloc(1, sizeof *d);
	if (d != NULL && (d->handle = my_open(guest_dsn != NULL ? guest_schema : "gritstone", why)) != NULL)
		return (struct database *)d;
	failed_because(c, "mysql_real_connect", "%s", d != NULL ? why : "no memory");
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
		refused = my.next_result(d->handle); /* -1: there is no more */
	}
	return refused == -1;
}

/* What the server itself says of its settings; what keeps a commit from being durable stands in for the work. */
static void my_tell_settings(struct context *c, void *handle)
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

/* Until it takes connections. Whether it does. */
static int my_answers(struct context *c)
{
	char why[256] = "";
	for (int waited = 0; waited < SERVER_PATIENCE_S * 1000000 / SERVER_LOOK_US && server_lives(c); waited++) {
		struct my_database d = {.handle = my_open(NULL, why)};
		if (d.handle == NULL) {
			usleep(SERVER_LOOK_US);
			continue;
		}
		my_tell_settings(c, d.handle);
		int made = my_script((struct database *)&d, "CREATE DATABASE gritstone CHARACTER SET latin1 COLLATE latin1_bin;");
		if (!made)
			failed_because(c, "mariadb", "%s", my.error(d.handle));
		my.close(d.handle);
		return made;
	}
	failed_because(c, "server", "it takes no connections: %s", why);
	return 0;
}

/* Removes the database of this launch, also where that fails. */
static void my_move_out(void)
{
	char sql[64];
	snprintf(sql, sizeof sql, "DROP DATABASE IF EXISTS %s;", guest_schema);
	if (guest_process != getpid())
		return;
	if (!my_script((struct database *)my_keeper, sql))
		fprintf(stderr, "the database %s stays on the server: %s\n", guest_schema, my.error(my_keeper->handle));
	my.close(my_keeper->handle);
	free(my_keeper);
}

/* Makes the database of this launch, after those of launches that are gone were removed. Whether it is there. */
static int my_move_in(struct context *c)
{
	char sql[512], why[256];
	struct my_database *keeper = calloc(1, sizeof *keeper);
	if (keeper == NULL || (keeper->handle = my_open(NULL, why)) == NULL) {
		skip(c, "The server of dsn= cannot be reached: %s", keeper != NULL ? why : "no memory");
		return 0;
	}
	my_keeper = keeper;
	atexit(my_move_out);
	void *left = my.query(keeper->handle, "SELECT table_schema FROM information_schema.tables WHERE table_name = 'made_by_gritstone' AND "
					      "table_schema REGEXP '^gritstone_[0-9a-f]{8}$' AND IS_FREE_LOCK(table_schema) = 1") == 0
			     ? my.store_result(keeper->handle)
			     : NULL;
	int well = left != NULL;
	for (char **row; well && (row = my.fetch_row(left)) != NULL;) {
		snprintf(sql, sizeof sql, "DROP DATABASE %s;", row[0]);
		well = my_script((struct database *)keeper, sql);
	}
	if (left != NULL)
		my.free_result(left);
	snprintf(sql, sizeof sql, "DO GET_LOCK('%s', 0); CREATE DATABASE %s CHARACTER SET latin1 COLLATE latin1_bin; "
				  "CREATE TABLE %s.made_by_gritstone (id INTEGER);", guest_schema, guest_schema, guest_schema);
	well = well && my_script((struct database *)keeper, sql);
	if (!well)
		failed_because(c, "mariadb", "%s", my.error(keeper->handle));
	else
		my_tell_settings(c, keeper->handle);
	return well;
}

static int my_start(struct context *c)
{
	static char setting[MY_SETTINGS][96], data[4200], temporary[] = "--tmpdir=.";
	char room[4096];
	if (!my_load(c))
		return 0;
	if (is_guest(c, my_settings, MY_SETTINGS))
		return my_move_in(c);
	if (!make_room(c, "mysql", "/var/lib/mysql"))
		return 0;
	if (mkdir(SERVER_ROOM "/data", 0700) != 0 ||
	    (server_account != NULL && chown(SERVER_ROOM "/data", server_account->pw_uid, server_account->pw_gid) != 0)) {
		failed(c, "mkdir");
		return 0;
	}
	if (server_account == NULL && getcwd(room, sizeof room - 16) != NULL)
		snprintf(data, sizeof data, "--datadir=%s/" SERVER_ROOM "/data", room);
	else
		snprintf(data, sizeof data, "--datadir=%s/data", server_home);
	char *serve[12 + MY_SETTINGS] = {(char *)parameter(c, "mariadbd", "/usr/sbin/mariadbd"), "--no-defaults", data, "--socket=socket", temporary,
					 "--skip-grant-tables", "--skip-networking", "--pid-file=pid", "--skip-log-bin"};
	for (int i = 0, words = 9; i < MY_SETTINGS; i++) {
		const char *value = parameter(c, my_settings[i], "default");
		if (strcmp(value, "default") == 0)
			continue;
		snprintf(setting[i], sizeof *setting, "--%s=%s", my_settings[i], value);
		serve[words++] = setting[i];
	}
	server_pid = execute_in_room(c, serve);
	return server_pid > 0 && my_answers(c);
}

/* A statement without arguments and answers is executed as it stands: the protocol of prepared ones has not all of them. */
static int my_prepare(struct database *database, int number, const char *sql, const char *columns)
{
	struct my_database *d = (struct my_database *)database;
	d->statement[number].columns = columns;
	if (columns == NULL && strchr(sql, '?') == NULL)
		return (d->statement[number].text = strdup(sql)) != NULL;
	void *prepared = d->last = d->statement[number].prepared = my.stmt_init(d->handle);
	if (prepared == NULL || my.stmt_prepare(prepared, sql, strlen(sql)) != 0)
		return 0;
	for (int i = 0; i < MOST_ARGUMENTS; i++)
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

static int my_execute(struct database *database, int number, const int64_t *arguments, struct answer *answer)
{
	struct my_database *d = (struct my_database *)database;
	const char *columns = d->statement[number].columns;
	void *prepared = d->last = d->statement[number].prepared;
	int fetched;
	*answer = (struct answer){0};
	if (d->statement[number].text != NULL)
		return my.query(d->handle, d->statement[number].text) == 0;
	for (int i = 0; arguments != NULL && i < MOST_ARGUMENTS; i++)
		d->statement[number].argument[i] = arguments[i];
	if (my.stmt_execute(prepared) != 0)
		return 0;
	if (columns == NULL) {
		answer->rows = (long)my.stmt_affected_rows(prepared);
		return 1;
	}
	if (my.stmt_store_result(prepared) != 0)
		return 0;
	while ((fetched = my.stmt_fetch(prepared)) == 0) {
		uint64_t row = NOTHING;
		for (int i = 0; columns[i] != '\0'; i++) {
			char *text = d->statement[number].string[i];
			unsigned long length = d->statement[number].out[i].length_value;
			text[length < MY_TEXT ? length : MY_TEXT - 1] = '\0';
			row = columns[i] == 'i' ? take_number(answer, row, d->statement[number].number[i]) : with_text(row, text);
		}
		answer->digest += row;
		answer->rows++;
	}
	my.stmt_free_result(prepared);
	return fetched == 100; /* no more rows */
}

static const char *my_why(struct database *database)
{
	struct my_database *d = (struct my_database *)database;
	return d->last != NULL ? my.stmt_error(d->last) : my.error(d->handle);
}

static pid_t my_server(struct database *database)
{
	(void)database;
	return server_pid; /* 0 where it is not ours */
}

static void my_disconnect(struct database *database)
{
	struct my_database *d = (struct my_database *)database;
	for (int i = 0; i < MOST_STATEMENTS; i++) {
		free(d->statement[i].text);
		if (d->statement[i].prepared != NULL)
			my.stmt_close(d->statement[i].prepared);
	}
	my.close(d->handle);
	free(d);
}

static void my_stop(struct context *c)
{
	if (guest_dsn == NULL)
		stop_server(c, SIGTERM);
}

static const struct engine mariadb = {.name = "mariadb",
				      .start = my_start,
				      .connect = my_connect,
				      .prepare = my_prepare,
				      .execute = my_execute,
				      .script = my_script,
				      .why = my_why,
				      .server = my_server,
				      .disconnect = my_disconnect,
				      .stop = my_stop,
				      .begin = "BEGIN",
				      .begin_to_write = "BEGIN",
				      .begin_alone = "SET autocommit = 0",
				      .lock = "LOCK TABLES",
				      .lock_each = {" READ", " WRITE"},
				      .lock_all = {"", ""},
				      .end_alone = "UNLOCK TABLES",
				      .analyze = "DO 0",
				      .vacuum = "ALTER TABLE account FORCE;",
				      .drop_index = "DROP INDEX entry_account ON entry;"};

#endif
