/* Commits that survive the end of an engine without warning; for tests, compiled with the runtime of the workloads.
 *
 * phase=write: one client commits increasing numbers to one row, and keeps the last acknowledged one. After moment_ms= all
 * processes of the server are stopped at once; then they are killed (cut=kill), or command= is executed, which copies the disk. The last
 * acknowledged number is printed. phase=recover starts the server on the remaining data, and prints the number found.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>

#include "postgresql.h"

enum { BEGIN, COMMIT, RAISE, READ };

static const struct engine *const engine = &postgresql;
static struct database *database;

static pid_t parent_of(pid_t pid)
{
	char path[64], text[512];
	int parent = -1;
	snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
	FILE *file = fopen(path, "re");
	if (file == NULL)
		return -1;
	char *after = fgets(text, sizeof text, file) != NULL ? strrchr(text, ')') : NULL;
	if (after != NULL)
		sscanf(after, ") %*c %d", &parent);
	fclose(file);
	return parent;
}

/* Sends a signal to the children of a process, and then to itself. */
static void signal_all(pid_t pid, int signal)
{
	const struct dirent *entry;
	DIR *proc = opendir("/proc");
	while (proc != NULL && (entry = readdir(proc)) != NULL)
		if (atoi(entry->d_name) > 0 && parent_of(atoi(entry->d_name)) == pid)
			kill(atoi(entry->d_name), signal);
	closedir(proc);
	kill(pid, signal);
}

static int prepare_all(void)
{
	return engine->prepare(database, BEGIN, engine->begin, NULL) && engine->prepare(database, COMMIT, "COMMIT", NULL) &&
	       engine->prepare(database, RAISE, "UPDATE counter SET n = ? WHERE id = 1", NULL) &&
	       engine->prepare(database, READ, "SELECT n FROM counter WHERE id = 1", "i");
}

static void write_numbers(struct context *c)
{
	const char *command = parameter(c, "command", NULL);
	struct query_result result;
	int64_t number = 0, acknowledged = 0;
	/* the table is on the disk, whatever the settings */
	if (!engine->script(database, "CREATE TABLE counter (id INTEGER NOT NULL PRIMARY KEY, n INTEGER NOT NULL);"
				      "INSERT INTO counter VALUES (1, 0);") || !prepare_all() || !engine->script(database, "CHECKPOINT;")) {
		failed_because(c, "durable", "%s", engine->error(database));
		return;
	}
	sync();
	const uint64_t end = now_ns() + parameter_u64(c, "moment_ms", 100) * 1000000;
	while (now_ns() < end) {
		number++;
		if (!engine->execute(database, BEGIN, NULL, &result) || !engine->execute(database, RAISE, &number, &result) ||
		    !engine->execute(database, COMMIT, NULL, &result)) {
			failed_because(c, "durable", "%s", engine->error(database));
			return;
		}
		acknowledged = number;
	}
	signal_all(server_pid, SIGSTOP);
	if (command != NULL && system(command) != 0)
		failed_because(c, "durable", "the command failed");
	signal_all(server_pid, SIGKILL);
	waitpid(server_pid, NULL, 0);
	printf("acknowledged=%lld\n", (long long)acknowledged);
}

static void setup(struct context *c)
{
	if (strcmp(parameter(c, "phase", "write"), "write") == 0) {
		if (engine->start(c) && (database = engine->connect(c)) != NULL)
			write_numbers(c);
	} else if (pq_load(c) && find_account(c, "postgres", PQ_HOME) && pq_start_server(c) && (database = engine->connect(c)) != NULL) {
		struct query_result result = {0};
		if (!prepare_all() || !engine->execute(database, READ, NULL, &result))
			failed_because(c, "durable", "%s", engine->error(database));
		printf("found=%lld\n", (long long)result.number);
		engine->disconnect(database);
		engine->stop(c);
	}
	fflush(stdout);
}

static void run(struct context *c, uint64_t n, uint64_t *check)
{
	(void)c;
	(void)n;
	(void)check;
}

const struct kernel kernel = {.name = "db/durable", .setup = setup, .run = run};
