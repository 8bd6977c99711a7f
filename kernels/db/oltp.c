/* db/oltp: short transactions by 1, 2, 4 ... concurrent clients on one table, modeled on sysbench's OLTP tests.
 *
 * mix= is read-only (10 point selects, and range selects of 100 rows: plain, sum, ordered, distinct), write (an update of an indexed
 * column, one of an unindexed column, a delete and re-insert of a row) or read-write (both). users= is the number of clients; with share=
 * (percent) the peak rate is determined first with 1, 2, 4 ... up to users= clients, and regions are an open loop at that share of it: an
 * operation is a transaction, from its due time. beside= checkpoint or vacuum has one more client do that in the middle third of the
 * region, pausing as long after each; operations are then the transactions that overlap it. Concurrent changes of a row are increments,
 * which commute, so that the model knows the final table.
 */
#define _GNU_SOURCE
#include <dlfcn.h>

#include "engines.h"
#include "random.h"

#include "clients.h"

enum { ROWS = 10000, OWN_ROWS = 16, POINTS = 10, RANGE = 100, TEXT = 120, BATCH_BYTES = 1 << 16, TRIAL_NS = 250000000 };
enum { BEGIN, COMMIT, POINT, SIMPLE, SUM, ORDERED, DISTINCT, INCREMENT_K, INCREMENT_N, DELETE, INSERT, WHOLE };

static const struct {
	const char *sql, *columns;
} statements[] = {
	[COMMIT] = {"COMMIT", NULL},
	[POINT] = {"SELECT c FROM account WHERE id = ?", "t"},
	[SIMPLE] = {"SELECT c FROM account WHERE id BETWEEN ? AND ?", "t"},
	[SUM] = {"SELECT sum(k) FROM account WHERE id BETWEEN ? AND ?", "i"},
	[ORDERED] = {"SELECT c FROM account WHERE id BETWEEN ? AND ? ORDER BY c", "t"},
	[DISTINCT] = {"SELECT DISTINCT c FROM account WHERE id BETWEEN ? AND ? ORDER BY c", "t"},
	[INCREMENT_K] = {"UPDATE account SET k = k + 1 WHERE id = ?", NULL},
	[INCREMENT_N] = {"UPDATE account SET n = n + 1 WHERE id = ?", NULL},
	[DELETE] = {"DELETE FROM account WHERE id = ?", NULL},
	[INSERT] = {"INSERT INTO account (id, k, n, c, pad) VALUES (?, ?, 0, '%s', '%.60s')", NULL}, /* with the text of row 1 */
	[WHOLE] = {"SELECT id, k, n, c FROM account", "iiit"},
};

/* The model: rows that all clients increment, followed by rows that a single client deletes and re-inserts, with the text of row 1. */
static struct rows {
	_Atomic int k[ROWS + 1], n[ROWS + 1];
	int own[MAX_CLIENTS][OWN_ROWS];
} *rows;
static uint64_t text_digest[ROWS + 1], digest_prefix_sum[ROWS + 2];

static const struct engine *engine;
static struct database *database;
static int reads, writes, clients, share;
static const char *maintenance_sql; /* NULL: none */
static int overlapped; /* some transaction of a sample overlapped maintenance */
static uint64_t min_region_ns; /* shortest region with maintenance: far below the calibrated duration */
static struct {
	uint64_t begin, end, number, elapsed;
} *maintenance; /* of the region; shared with the client that runs it */

static void row_text(int id, char *text)
{
	uint64_t z = (uint64_t)id * UINT64_C(0x9e3779b97f4a7c15);
	for (int i = 0; i < TEXT - 1; i++, z = z * UINT64_C(6364136223846793005) + 1442695040888963407u)
		text[i] = i % 12 == 11 ? '-' : (char)('0' + (z >> 33) % 10);
	text[TEXT - 1] = '\0';
}

static int prepare_all(void)
{
	char insert[2 * TEXT + 128], text[TEXT];
	row_text(1, text);
	snprintf(insert, sizeof insert, statements[INSERT].sql, text, text);
	int ok = engine->prepare(database, BEGIN, writes ? engine->begin_write : engine->begin, NULL);
	for (int i = COMMIT; ok && i <= WHOLE; i++)
		ok = engine->prepare(database, i, i == INSERT ? insert : statements[i].sql, statements[i].columns);
	return ok;
}

static int connect_client(struct context *c, int client)
{
	random_state ^= (uint64_t)(client + 1) << 32;
	database = engine->connect(c);
	int ok = database != NULL && prepare_all();
	if (!ok)
		snprintf(pool->error, sizeof pool->error, "%s", database != NULL ? engine->error(database) : "cannot connect");
	return ok;
}

/* Returns whether the number of rows is correct; -1 on failure. */
static int execute(int statement, int64_t first, int64_t second, long count, struct query_result *a)
{
	const int64_t arguments[MAX_ARGUMENTS] = {first, second};
	if (!engine->execute(database, statement, arguments, a)) {
		snprintf(pool->error, sizeof pool->error, "%s: %s", statement == BEGIN ? "BEGIN" : statements[statement].sql, engine->error(database));
		return -1;
	}
	return a->rows == count;
}

/* Returns whether the texts are correct, or the sum at least `minimum`; -1 on failure. */
static int read_range(int statement, int first, int64_t minimum)
{
	struct query_result a;
	const int last = first + RANGE - 1, correct = execute(statement, first, last, statement == SUM ? 1 : RANGE, &a);
	return correct < 0 ? -1 : correct && (statement == SUM ? a.number >= minimum : a.digest == digest_prefix_sum[last + 1] - digest_prefix_sum[first]);
}

static int run_reads(int sum_first, int64_t minimum)
{
	struct query_result a;
	int correct = 1, status = 1;
	for (int i = 0; i < POINTS && status >= 0; i++) {
		const int id = random_from_1(ROWS);
		status = execute(POINT, id, 0, 1, &a);
		correct &= status > 0 && a.digest == text_digest[id];
	}
	for (int statement = SIMPLE; statement <= DISTINCT && status >= 0; statement++)
		correct &= (status = read_range(statement, statement == SUM ? sum_first : random_from_1(ROWS - RANGE + 1), minimum)) > 0;
	return status < 0 ? -1 : correct;
}

/* Rows are locked in ascending order, to avoid deadlocks. The model changes after the commit. */
static int run_writes(int client, int *id, int *own, int *value)
{
	struct query_result a;
	const int row = ROWS + 1 + client * OWN_ROWS + *own, first = id[0] < id[1] ? 0 : 1;
	int status[4];
	status[0] = execute(first == 0 ? INCREMENT_K : INCREMENT_N, id[first], 0, 1, &a);
	status[1] = status[0] < 0 ? -1 : execute(first == 0 ? INCREMENT_N : INCREMENT_K, id[1 - first], 0, 1, &a);
	status[2] = status[1] < 0 ? -1 : execute(DELETE, row, 0, 1, &a);
	status[3] = status[2] < 0 ? -1 : execute(INSERT, row, *value, 1, &a);
	return status[3] < 0 ? -1 : status[0] && status[1] && status[2] && status[3];
}

static int do_transaction(int client)
{
	struct query_result a;
	int id[2] = {random_from_1(ROWS), random_from_1(ROWS)}, own = random_below(OWN_ROWS), value = random_from_1(ROWS), correct = 1, status;
	const int sum_first = random_from_1(ROWS - RANGE + 1);
	int64_t minimum = 0; /* before the transaction's snapshot: others may increment meanwhile */
	for (int i = sum_first; i < sum_first + RANGE; i++)
		minimum += rows->k[i];
	if (engine->execute(database, BEGIN, NULL, &a) == 0)
		return execute(BEGIN, 0, 0, 0, &a);
	if (reads && (status = run_reads(sum_first, minimum)) <= 0)
		correct = status;
	if (correct >= 0 && writes && (status = run_writes(client, id, &own, &value)) <= 0)
		correct = status;
	if (correct < 0 || execute(COMMIT, 0, 0, 0, &a) < 0)
		return -1;
	if (writes) {
		rows->k[id[0]]++;
		rows->n[id[1]]++;
		rows->own[client][own] = value;
	}
	return correct;
}

/* Maintenance during the middle third of a region; none in shorter regions, so that calibration proceeds to longer ones. */
static int run_maintenance(void)
{
	maintenance->begin = maintenance->end = UINT64_MAX;
	if (pool->due[pool->transactions - 1] < min_region_ns)
		return 1;
	const uint64_t *due = pool->due, until = pool->start_ns + due[2 * pool->transactions / 3];
	sleep_until(pool->start_ns + due[pool->transactions / 3]);
	maintenance->begin = now_ns();
	do {
		const uint64_t start = now_ns();
		if (!engine->script(database, maintenance_sql)) {
			snprintf(pool->error, sizeof pool->error, "%s %s", maintenance_sql, engine->error(database));
			return 0;
		}
		maintenance->end = now_ns();
		maintenance->elapsed += maintenance->end - start;
		maintenance->number++;
		sleep_until(2 * maintenance->end - start);
	} while (now_ns() < until);
	return 1;
}

static const char *parse_maintenance(struct context *c, const char *name)
{
	const char *statement = strcmp(name, "checkpoint") == 0 ? engine->checkpoint : strcmp(name, "vacuum") == 0 ? engine->vacuum : NULL;
	if (strcmp(name, "none") == 0)
		return NULL;
	if (statement == NULL || share == 0)
		wrong_arguments(c, "beside= is checkpoint or vacuum, where the engine has it, and requires share=");
	last_client_job = run_maintenance;
	min_region_ns = parameter_u64(c, "target_ns", 0) / 4;
	return statement;
}

/* Multi-row inserts. Returns 0 on failure. */
static int load(void)
{
	static char sql[BATCH_BYTES], text[TEXT];
	const int all = ROWS + MAX_CLIENTS * OWN_ROWS;
	int ok = engine->script(database, "CREATE TABLE account (id INTEGER NOT NULL PRIMARY KEY, k INTEGER NOT NULL, n INTEGER NOT NULL, "
					     "c VARCHAR(120) NOT NULL, pad VARCHAR(60) NOT NULL);") && engine->script(database, "BEGIN;");
	for (int i = 1, length = 0; ok && i <= all; i++) {
		const int k = i <= ROWS ? rows->k[i] : rows->own[(i - ROWS - 1) / OWN_ROWS][(i - ROWS - 1) % OWN_ROWS];
		row_text(i <= ROWS ? i : 1, text);
		length += length == 0 ? snprintf(sql, sizeof sql, "INSERT INTO account VALUES ") : snprintf(sql + length, 2, ",");
		length += snprintf(sql + length, sizeof sql - (size_t)length, "(%d,%d,0,'%s','%.60s')", i, k, text, text);
		if (length > BATCH_BYTES - 512 || i == all) {
			snprintf(sql + length, 2, ";");
			ok = engine->script(database, sql);
			length = 0;
		}
	}
	return ok && engine->script(database, "COMMIT;") && engine->script(database, "CREATE INDEX account_k ON account (k);") &&
	       analyze(engine, database, "account");
}

/* The initial model, in shared memory. */
static int generate(struct context *c)
{
	char text[TEXT];
	rows = mmap(NULL, sizeof *rows, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	maintenance = mmap(NULL, sizeof *maintenance, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (rows == MAP_FAILED || maintenance == MAP_FAILED) {
		failed(c, "mmap");
		return 0;
	}
	for (int i = 1; i <= ROWS; i++) {
		rows->k[i] = random_from_1(ROWS);
		row_text(i, text);
		text_digest[i] = digest_text(EMPTY_DIGEST, text);
		digest_prefix_sum[i + 1] = digest_prefix_sum[i] + text_digest[i];
	}
	for (int i = 0; i < MAX_CLIENTS * OWN_ROWS; i++)
		rows->own[i / OWN_ROWS][i % OWN_ROWS] = random_from_1(ROWS);
	return 1;
}

static void check_table(struct context *c)
{
	char text[TEXT];
	struct query_result actual;
	uint64_t expected = 0;
	for (int i = 1; i <= ROWS + MAX_CLIENTS * OWN_ROWS; i++) {
		const int own_index = i - ROWS - 1;
		uint64_t row = digest_number(digest_number(EMPTY_DIGEST, i), i <= ROWS ? rows->k[i] : rows->own[own_index / OWN_ROWS][own_index % OWN_ROWS]);
		row_text(i <= ROWS ? i : 1, text);
		expected += digest_text(digest_number(row, i <= ROWS ? rows->n[i] : 0), text);
	}
	if (!engine->execute(database, WHOLE, NULL, &actual))
		failed_because(c, "compare", "%s", engine->error(database));
	else if (actual.rows != ROWS + MAX_CLIENTS * OWN_ROWS || actual.digest != expected)
		failed_because(c, "compare", "the table differs from the model: %ld rows", actual.rows);
}

/* Determines the peak rate over 1, 2, 4 ... clients, and from it the rate of the open loop. */
static void find_peak_rate(struct context *c)
{
	double best = 0;
	int best_clients = 0;
	for (int i = 1; i <= clients; i *= 2)
		for (uint64_t n = 16, elapsed = 0; elapsed < TRIAL_NS && n <= MAX_TRANSACTIONS; n *= 2) {
			const uint64_t start = now_ns();
			if (run_transactions(c, i, n) != n) {
				failed_because(c, "oltp", "wrong results with %d clients during the search for the peak rate", i);
				return;
			}
			elapsed = now_ns() - start;
			const double rate = (double)n * 1e9 / (double)elapsed;
			if (elapsed >= TRIAL_NS && rate > best) {
				best = rate;
				best_clients = i;
			}
		}
	if (best <= 0)
		failed_because(c, "oltp", "no rate was found");
	else
		pool->mean_interval_ns = (uint64_t)(1e9 * 100 / best / share);
	note(c, "knee_clients", "%d", best_clients);
	note(c, "offered_per_s", "%.0f", best * share / 100);
}

static void setup(struct context *c)
{
	const char *mix = parameter(c, "mix", "read-only");
	const uint64_t users = parameter_u64(c, "users", 1);
	share = (int)parameter_u64(c, "share", 0);
	reads = strcmp(mix, "write") != 0;
	writes = strcmp(mix, "read-only") != 0;
	engine = find_engine(c, parameter(c, "engine", "sqlite"));
	if (users < 1 || users >= MAX_CLIENTS || share > 100 || (reads && writes && strcmp(mix, "read-write") != 0))
		wrong_arguments(c, "mix= is read-only, read-write or write, users= up to %d, share= up to 100", MAX_CLIENTS - 1);
	clients = (int)users;
	maintenance_sql = parse_maintenance(c, parameter(c, "beside", "none"));
	random_state = parameter_u64(c, "seed", 1987);
	if (!generate(c) || !engine->start(c) || (database = engine->connect(c)) == NULL)
		return;
	if (!load()) {
		failed_because(c, "load", "%s", engine->error(database));
		return;
	}
	engine->disconnect(database); /* a connection must not be shared across fork(2) */
	if (!start_clients(c, clients + (maintenance_sql != NULL)) || (database = engine->connect(c)) == NULL)
		return;
	if (!prepare_all())
		failed_because(c, "prepare", "%s", engine->error(database));
	if (share > 0)
		find_peak_rate(c);
}

static void prepare(struct context *c, uint64_t n)
{
	(void)c;
	if (pool->mean_interval_ns > 0)
		schedule_arrivals(n);
}

static void run(struct context *c, uint64_t n, uint64_t *check) { *check = run_transactions(c, clients + (maintenance_sql != NULL), n); }

static void finish(struct context *c, uint64_t n, uint64_t *check)
{
	(void)check;
	const char *const mix = writes ? reads ? "read-write" : "write" : "read-only";
	for (uint64_t i = 0; i < n; i++) {
		const uint64_t start = pool->times[i].start, end = pool->times[i].end;
		const char *when = end < maintenance->begin ? "before" : start <= maintenance->end ? "during" : "after";
		if (share > 0 && (maintenance_sql == NULL || strcmp(when, "during") == 0))
			overlapped |= record(c, start, end);
		respond(c, (uint64_t)clients, maintenance_sql != NULL ? when : mix, start, end);
	}
	check_table(c);
}

static uint64_t expect(struct context *c, uint64_t n)
{
	(void)c;
	return n;
}

static void teardown(struct context *c)
{
	stop_clients();
	if (maintenance_sql != NULL && !overlapped)
		failed_because(c, "upkeep", "no transaction of a sample overlapped it");
	if (maintenance->number > 0)
		note(c, "upkeep_ns", "%llu", (unsigned long long)(maintenance->elapsed / maintenance->number));
	engine->disconnect(database);
	engine->stop(c);
}

const struct kernel kernel = {.name = "db/oltp",
			      .setup = setup,
			      .prepare = prepare,
			      .run = run,
			      .finish = finish,
			      .expect = expect,
			      .teardown = teardown,
			      .max_n = MAX_TRANSACTIONS};
