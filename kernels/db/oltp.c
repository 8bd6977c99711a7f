/* db/oltp: short transactions by 1, 2, 4 ... clients at once on one table, as sysbench's OLTP tests have them.
 *
 * mix= is read-only (10 rows by their key, and a hundred rows each as they are, summed up, sorted and distinct), write (an update of an indexed
 * column, one of another, a row deleted and made again) or read-write (both). users= clients are at work; with share= (percent) first all
 * numbers of clients up to users= are tried, and the region is then an open loop at that share of the highest rate: an operation is a
 * transaction, from when it was due. beside= checkpoint or vacuum has one more client do that in the middle third of the region, with as long a
 * pause after each; operations are then those that meet it. Rows are never changed by two in ways that do not add up, so that the model knows each of them in the end.
 */
#define _GNU_SOURCE
#include <dlfcn.h>

#include "engines.h"
#include "random.h"

#include "clients.h"

enum { ROWS = 10000, OWN = 16, POINTS = 10, RANGE = 100, TEXT = 120, BATCH_BYTES = 1 << 16, TRY_NS = 250000000 };
enum { BEGIN, COMMIT, POINT, SIMPLE, SUM, ORDERED, DISTINCT, RAISE_K, RAISE_N, DELETE, INSERT, WHOLE };

static const struct {
	const char *sql, *columns;
} statements[] = {
	[COMMIT] = {"COMMIT", NULL},
	[POINT] = {"SELECT c FROM account WHERE id = ?", "t"},
	[SIMPLE] = {"SELECT c FROM account WHERE id BETWEEN ? AND ?", "t"},
	[SUM] = {"SELECT sum(k) FROM account WHERE id BETWEEN ? AND ?", "i"},
	[ORDERED] = {"SELECT c FROM account WHERE id BETWEEN ? AND ? ORDER BY c", "t"},
	[DISTINCT] = {"SELECT DISTINCT c FROM account WHERE id BETWEEN ? AND ? ORDER BY c", "t"},
	[RAISE_K] = {"UPDATE account SET k = k + 1 WHERE id = ?", NULL},
	[RAISE_N] = {"UPDATE account SET n = n + 1 WHERE id = ?", NULL},
	[DELETE] = {"DELETE FROM account WHERE id = ?", NULL},
	[INSERT] = {"INSERT INTO account (id, k, n, c, pad) VALUES (?, ?, 0, '%s', '%.60s')", NULL}, /* the text of row 1 */
	[WHOLE] = {"SELECT id, k, n, c FROM account", "iiit"},
};

/* What the rows must hold: those that all clients change by adding, and behind them those that one client alone deletes and makes again, whose text
 * is that of row 1. Digests of texts, and their sums from the first row on. */
static struct rows {
	_Atomic int k[ROWS + 1], n[ROWS + 1];
	int own[MOST_CLIENTS][OWN];
} *rows;
static uint64_t text_digest[ROWS + 1], digests_before[ROWS + 2];

static const struct engine *engine;
static struct database *database;
static int reads, writes, clients, share;
static const char *beside; /* the statement of the upkeep, NULL: there is none */
static int met; /* an operation of a sample was recorded */
static uint64_t shortest_ns; /* of a region that has it: far less than calibration takes for long enough */
static struct {
	uint64_t begin, end, number, took;
} *upkeep; /* of the region; shared with the client that does it */

static void text_of(int id, char *text)
{
	uint64_t z = (uint64_t)id * UINT64_C(0x9e3779b97f4a7c15);
	for (int i = 0; i < TEXT - 1; i++, z = z * UINT64_C(6364136223846793005) + 1442695040888963407u)
		text[i] = i % 12 == 11 ? '-' : (char)('0' + (z >> 33) % 10);
	text[TEXT - 1] = '\0';
}

static int prepare_all(void)
{
	char insert[2 * TEXT + 128], text[TEXT];
	text_of(1, text);
	snprintf(insert, sizeof insert, statements[INSERT].sql, text, text);
	int there = engine->prepare(database, BEGIN, writes ? engine->begin_to_write : engine->begin, NULL);
	for (int i = COMMIT; there && i <= WHOLE; i++)
		there = engine->prepare(database, i, i == INSERT ? insert : statements[i].sql, statements[i].columns);
	return there;
}

static int crew_begin(struct context *c, int client)
{
	random_state ^= (uint64_t)(client + 1) << 32;
	database = engine->connect(c);
	int there = database != NULL && prepare_all();
	if (!there)
		snprintf(crew->why, sizeof crew->why, "%s", database != NULL ? engine->why(database) : "it cannot connect");
	return there;
}

/* One statement; whether its answer has as many rows. -1 when it was refused. */
static int ask(int statement, int64_t first, int64_t second, long count, struct answer *a)
{
	const int64_t arguments[MOST_ARGUMENTS] = {first, second};
	if (!engine->execute(database, statement, arguments, a)) {
		snprintf(crew->why, sizeof crew->why, "%s: %s", statement == BEGIN ? "BEGIN" : statements[statement].sql, engine->why(database));
		return -1;
	}
	return a->rows == count;
}

/* Whether a statement by a range has answered with the texts of its rows, or a sum of at least so much. */
static int read_range(int statement, int first, int64_t least)
{
	struct answer a;
	const int last = first + RANGE - 1, right = ask(statement, first, last, statement == SUM ? 1 : RANGE, &a);
	return right < 0 ? -1 : right && (statement == SUM ? a.number >= least : a.digest == digests_before[last + 1] - digests_before[first]);
}

static int read_all(int summed, int64_t least)
{
	struct answer a;
	int right = 1, is = 1;
	for (int i = 0; i < POINTS && is >= 0; i++) {
		const int id = from_one_to(ROWS);
		is = ask(POINT, id, 0, 1, &a);
		right &= is > 0 && a.digest == text_digest[id];
	}
	for (int statement = SIMPLE; statement <= DISTINCT && is >= 0; statement++)
		right &= (is = read_range(statement, statement == SUM ? summed : from_one_to(ROWS - RANGE + 1), least)) > 0;
	return is < 0 ? -1 : right;
}

/* Rows are locked in their order, so that no two clients wait for each other. What is changed is in the model after the commit. */
static int write_all(int client, int *id, int *own, int *value)
{
	struct answer a;
	const int row = ROWS + 1 + client * OWN + *own, first = id[0] < id[1] ? 0 : 1;
	int is[4];
	is[0] = ask(first == 0 ? RAISE_K : RAISE_N, id[first], 0, 1, &a);
	is[1] = is[0] < 0 ? -1 : ask(first == 0 ? RAISE_N : RAISE_K, id[1 - first], 0, 1, &a);
	is[2] = is[1] < 0 ? -1 : ask(DELETE, row, 0, 1, &a);
	is[3] = is[2] < 0 ? -1 : ask(INSERT, row, *value, 1, &a);
	return is[3] < 0 ? -1 : is[0] && is[1] && is[2] && is[3];
}

static int crew_work(int client)
{
	struct answer a;
	int id[2] = {from_one_to(ROWS), from_one_to(ROWS)}, own = drawn(OWN), value = from_one_to(ROWS), right = 1, is;
	const int summed = from_one_to(ROWS - RANGE + 1);
	int64_t least = 0; /* before the transaction sees anything: others may add to it meanwhile */
	for (int i = summed; i < summed + RANGE; i++)
		least += rows->k[i];
	if (engine->execute(database, BEGIN, NULL, &a) == 0)
		return ask(BEGIN, 0, 0, 0, &a);
	if (reads && (is = read_all(summed, least)) <= 0)
		right = is;
	if (right >= 0 && writes && (is = write_all(client, id, &own, &value)) <= 0)
		right = is;
	if (right < 0 || ask(COMMIT, 0, 0, 0, &a) < 0)
		return -1;
	if (writes) {
		rows->k[id[0]]++;
		rows->n[id[1]]++;
		rows->own[client][own] = value;
	}
	return right;
}

/* The middle third of what is due meets the upkeep; regions that are too short for that have none, so that calibration goes on to longer ones. */
static int keep_up(void)
{
	upkeep->begin = upkeep->end = UINT64_MAX;
	if (crew->due[crew->transactions - 1] < shortest_ns)
		return 1;
	const uint64_t *due = crew->due, until = crew->begun_ns + due[2 * crew->transactions / 3];
	crew_sleep_until(crew->begun_ns + due[crew->transactions / 3]);
	upkeep->begin = now_ns();
	do {
		const uint64_t start = now_ns();
		if (!engine->script(database, beside)) {
			snprintf(crew->why, sizeof crew->why, "%s %s", beside, engine->why(database));
			return 0;
		}
		upkeep->end = now_ns();
		upkeep->took += upkeep->end - start;
		upkeep->number++;
		crew_sleep_until(2 * upkeep->end - start);
	} while (now_ns() < until);
	return 1;
}

/* The statement of the upkeep that is asked for. */
static const char *upkeep_called(struct context *c, const char *name)
{
	const char *statement = strcmp(name, "checkpoint") == 0 ? engine->checkpoint : strcmp(name, "vacuum") == 0 ? engine->vacuum : NULL;
	if (strcmp(name, "none") == 0)
		return NULL;
	if (statement == NULL || share == 0)
		wrong_arguments(c, "beside= is checkpoint or vacuum, as the engine has it, and takes share=");
	crew_upkeep = keep_up;
	shortest_ns = parameter_u64(c, "target_ns", 0) / 4;
	return statement;
}

/* Fills the table in inserts of many rows. Whether it was filled. */
static int load(void)
{
	static char sql[BATCH_BYTES], text[TEXT];
	const int all = ROWS + MOST_CLIENTS * OWN;
	int there = engine->script(database, "CREATE TABLE account (id INTEGER NOT NULL PRIMARY KEY, k INTEGER NOT NULL, n INTEGER NOT NULL, "
					     "c VARCHAR(120) NOT NULL, pad VARCHAR(60) NOT NULL);") && engine->script(database, "BEGIN;");
	for (int i = 1, length = 0; there && i <= all; i++) {
		const int k = i <= ROWS ? rows->k[i] : rows->own[(i - ROWS - 1) / OWN][(i - ROWS - 1) % OWN];
		text_of(i <= ROWS ? i : 1, text);
		length += length == 0 ? snprintf(sql, sizeof sql, "INSERT INTO account VALUES ") : snprintf(sql + length, 2, ",");
		length += snprintf(sql + length, sizeof sql - (size_t)length, "(%d,%d,0,'%s','%.60s')", i, k, text, text);
		if (length > BATCH_BYTES - 512 || i == all) {
			snprintf(sql + length, 2, ";");
			there = engine->script(database, sql);
			length = 0;
		}
	}
	return there && engine->script(database, "COMMIT;") && engine->script(database, "CREATE INDEX account_k ON account (k);") &&
	       analyze(engine, database, "account");
}

/* The model before the first transaction; in memory that the clients share. */
static int generate(struct context *c)
{
	char text[TEXT];
	rows = mmap(NULL, sizeof *rows, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	upkeep = mmap(NULL, sizeof *upkeep, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (rows == MAP_FAILED || upkeep == MAP_FAILED) {
		failed(c, "mmap");
		return 0;
	}
	for (int i = 1; i <= ROWS; i++) {
		rows->k[i] = from_one_to(ROWS);
		text_of(i, text);
		text_digest[i] = with_text(NOTHING, text);
		digests_before[i + 1] = digests_before[i] + text_digest[i];
	}
	for (int i = 0; i < MOST_CLIENTS * OWN; i++)
		rows->own[i / OWN][i % OWN] = from_one_to(ROWS);
	return 1;
}

static void look_at_all(struct context *c)
{
	char text[TEXT];
	struct answer is;
	uint64_t right = 0;
	for (int i = 1; i <= ROWS + MOST_CLIENTS * OWN; i++) {
		const int mine = i - ROWS - 1;
		uint64_t row = with_number(with_number(NOTHING, i), i <= ROWS ? rows->k[i] : rows->own[mine / OWN][mine % OWN]);
		text_of(i <= ROWS ? i : 1, text);
		right += with_text(with_number(row, i <= ROWS ? rows->n[i] : 0), text);
	}
	if (!engine->execute(database, WHOLE, NULL, &is))
		failed_because(c, "compare", "%s", engine->why(database));
	else if (is.rows != ROWS + MOST_CLIENTS * OWN || is.digest != right)
		failed_because(c, "compare", "the table is not as the model has it: %ld rows", is.rows);
}

/* The highest rate of 1, 2, 4 ... clients, from which that of the open loop follows. */
static void find_rate(struct context *c)
{
	double best = 0;
	int at = 0;
	for (int i = 1; i <= clients; i *= 2)
		for (uint64_t n = 16, took = 0; took < TRY_NS && n <= MOST_TRANSACTIONS; n *= 2) {
			const uint64_t start = now_ns();
			if (crew_do(c, i, n) != n) {
				failed_because(c, "oltp", "answers to %d clients were wrong while the rate was looked for", i);
				return;
			}
			took = now_ns() - start;
			const double rate = (double)n * 1e9 / (double)took;
			if (took >= TRY_NS && rate > best) {
				best = rate;
				at = i;
			}
		}
	if (best <= 0)
		failed_because(c, "oltp", "no rate was found");
	else
		crew->due_ns = (uint64_t)(1e9 * 100 / best / share);
	note(c, "knee_clients", "%d", at);
	note(c, "offered_per_s", "%.0f", best * share / 100);
}

static void setup(struct context *c)
{
	const char *mix = parameter(c, "mix", "read-only");
	const uint64_t users = parameter_u64(c, "users", 1);
	share = (int)parameter_u64(c, "share", 0);
	reads = strcmp(mix, "write") != 0;
	writes = strcmp(mix, "read-only") != 0;
	engine = engine_called(c, parameter(c, "engine", "sqlite"));
	if (users < 1 || users >= MOST_CLIENTS || share > 100 || (reads && writes && strcmp(mix, "read-write") != 0))
		wrong_arguments(c, "mix= is read-only, read-write or write, users= up to %d, share= up to 100", MOST_CLIENTS - 1);
	clients = (int)users;
	beside = upkeep_called(c, parameter(c, "beside", "none"));
	random_state = parameter_u64(c, "seed", 1987);
	if (!generate(c) || !engine->start(c) || (database = engine->connect(c)) == NULL)
		return;
	if (!load()) {
		failed_because(c, "load", "%s", engine->why(database));
		return;
	}
	engine->disconnect(database); /* no connection outlives a fork */
	if (!crew_start(c, clients + (beside != NULL)) || (database = engine->connect(c)) == NULL)
		return;
	if (!prepare_all())
		failed_because(c, "prepare", "%s", engine->why(database));
	if (share > 0)
		find_rate(c);
}

static void prepare(struct context *c, uint64_t n)
{
	(void)c;
	if (crew->due_ns > 0)
		crew_plan(n);
}

static void run(struct context *c, uint64_t n, uint64_t *check) { *check = crew_do(c, clients + (beside != NULL), n); }

static void finish(struct context *c, uint64_t n, uint64_t *check)
{
	(void)check;
	const char *const mix = writes ? reads ? "read-write" : "write" : "read-only";
	for (uint64_t i = 0; i < n; i++) {
		const uint64_t start = crew->times[i].start, end = crew->times[i].end;
		const char *when = end < upkeep->begin ? "before" : start <= upkeep->end ? "during" : "after";
		if (share > 0 && (beside == NULL || strcmp(when, "during") == 0))
			met |= record(c, start, end);
		respond(c, (uint64_t)clients, beside != NULL ? when : mix, start, end);
	}
	look_at_all(c);
}

static uint64_t expect(struct context *c, uint64_t n)
{
	(void)c;
	return n;
}

static void teardown(struct context *c)
{
	crew_stop();
	if (beside != NULL && !met)
		failed_because(c, "upkeep", "no transaction of a sample met it");
	if (upkeep->number > 0)
		note(c, "upkeep_ns", "%llu", (unsigned long long)(upkeep->took / upkeep->number));
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
			      .max_n = MOST_TRANSACTIONS};
