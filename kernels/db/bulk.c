/* db/bulk, db/query: operations on a whole table: work= load (create and fill, in one transaction), index (create), count (full-table scan
 * with a condition), range (read a tenth of the rows by primary key), join (with a small table, grouped and summed).
 *
 * The table has 100,000 entries of 1,000 accounts in 50 branches, generated from seed=. An operation is one execution; its result is then
 * compared with the model.
 */
#define _GNU_SOURCE
#include <dlfcn.h>

#include "engines.h"
#include "random.h"

enum { ENTRIES = 100000, ACCOUNTS = 1000, GROUPS = 50, AMOUNTS = 10000, DAYS = 3650, BATCH_BYTES = 1 << 16, MAX_BATCHES = 200 };
enum { WHOLE, COUNT, RANGE, JOIN, INDEXED };

static struct {
	int account, amount, day;
} entry[ENTRIES + 1];
static int branch_of[ACCOUNTS + 1];
static char *batch[MAX_BATCHES];
static int batches;

static const char *const work_names[] = {"load", "index", "count", "range", "join"};
enum { LOAD, INDEX, COUNTING, RANGING, JOINING, WORKS };

static const struct engine *engine;
static struct database *database;
static int work;
static struct query_result actual, expected;
static int64_t argument[MAX_ARGUMENTS];

static uint64_t entry_digest(int i)
{
	return digest_number(digest_number(digest_number(digest_number(EMPTY_DIGEST, i), entry[i].account), entry[i].amount), entry[i].day);
}

static int succeeded(struct context *c, int ok)
{
	if (!ok)
		failed_because(c, work_names[work], "%s", engine->error(database));
	return ok;
}

/* Multi-row inserts, written before any is timed. */
static void write_batches(struct context *c)
{
	static char sql[BATCH_BYTES];
	int length = 0;
	for (int i = 1; i <= ENTRIES; i++) {
		length += length == 0 ? snprintf(sql, sizeof sql, "INSERT INTO entry VALUES ") : snprintf(sql + length, 2, ",");
		length += snprintf(sql + length, sizeof sql - (size_t)length, "(%d,%d,%d,%d,'entry %06d of the account')", i, entry[i].account,
				   entry[i].amount, entry[i].day, i);
		if (length > BATCH_BYTES - 256 || i == ENTRIES) {
			snprintf(sql + length, 2, ";");
			if (batches == MAX_BATCHES || (batch[batches++] = strdup(sql)) == NULL) {
				failed(c, "strdup");
				return;
			}
			length = 0;
		}
	}
}

static int fill(void)
{
	int ok = 1;
	for (int i = 0; ok && i < batches; i++)
		ok = engine->script(database, batch[i]);
	return ok;
}

static int load(void)
{
	return engine->script(database, "BEGIN;") &&
	       engine->script(database, "CREATE TABLE entry (id INTEGER NOT NULL PRIMARY KEY, account INTEGER NOT NULL, amount INTEGER NOT NULL, "
					"day INTEGER NOT NULL, memo VARCHAR(40) NOT NULL);") &&
	       fill() && engine->script(database, "COMMIT;");
}

static int load_accounts(void)
{
	char sql[64];
	int ok = engine->script(database, "CREATE TABLE account (id INTEGER NOT NULL PRIMARY KEY, branch INTEGER NOT NULL);") &&
		   engine->script(database, "BEGIN;");
	for (int i = 1; ok && i <= ACCOUNTS; i++) {
		snprintf(sql, sizeof sql, "INSERT INTO account VALUES (%d,%d);", i, branch_of[i]);
		ok = engine->script(database, sql);
	}
	return ok && engine->script(database, "COMMIT;");
}

static int prepare_all(void)
{
	return engine->prepare(database, WHOLE, "SELECT id, account, amount, day FROM entry", "iiii") &&
	       engine->prepare(database, COUNT, "SELECT count(*) FROM entry WHERE amount < ?", "i") &&
	       engine->prepare(database, RANGE, "SELECT id, account, amount, day FROM entry WHERE id BETWEEN ? AND ?", "iiii") &&
	       engine->prepare(database, JOIN, "SELECT branch, count(*), sum(amount) FROM entry JOIN account ON account.id = entry.account "
					       "WHERE day < ? GROUP BY branch", "iii") &&
	       engine->prepare(database, INDEXED, "SELECT count(*) FROM entry WHERE account = ?", "i");
}

static void setup(struct context *c)
{
	const char *name = parameter(c, "work", "load");
	engine = find_engine(c, parameter(c, "engine", "sqlite"));
	while (work < WORKS && strcmp(work_names[work], name) != 0)
		work++;
	if (work == WORKS)
		wrong_arguments(c, "unknown work=%s", name);
	random_state = parameter_u64(c, "seed", 1987);
	for (int i = 1; i <= ACCOUNTS; i++)
		branch_of[i] = random_from_1(GROUPS);
	for (int i = 1; i <= ENTRIES; i++) {
		entry[i].account = random_from_1(ACCOUNTS);
		entry[i].amount = random_from_1(AMOUNTS);
		entry[i].day = random_below(DAYS);
	}
	write_batches(c);
	if (!engine->start(c) || (database = engine->connect(c)) == NULL)
		return;
	succeeded(c, load_accounts() && load() && analyze(engine, database, "entry, account") && prepare_all());
}

static void plan_join(void)
{
	int64_t sum[GROUPS + 1] = {0}, count[GROUPS + 1] = {0};
	for (int i = 1; i <= ENTRIES; i++)
		if (entry[i].day < argument[0]) {
			sum[branch_of[entry[i].account]] += entry[i].amount;
			count[branch_of[entry[i].account]]++;
		}
	for (int g = 1; g <= GROUPS; g++)
		if (count[g] > 0) {
			expected.digest += digest_number(digest_number(digest_number(EMPTY_DIGEST, g), count[g]), sum[g]);
			expected.rows++;
		}
}

/* Chooses the arguments of the next execution, and computes the expected result. */
static void plan_execution(void)
{
	int64_t count = 0;
	expected = (struct query_result){.rows = 1};
	switch (work) {
	case COUNTING:
		argument[0] = AMOUNTS / 4 + random_from_1(AMOUNTS / 2);
		for (int i = 1; i <= ENTRIES; i++)
			count += entry[i].amount < argument[0];
		break;
	case RANGING:
		argument[0] = random_from_1(ENTRIES - ENTRIES / 10);
		argument[1] = argument[0] + ENTRIES / 10 - 1;
		expected.rows = ENTRIES / 10;
		for (int i = (int)argument[0]; i <= argument[1]; i++)
			expected.digest += entry_digest(i);
		return;
	case JOINING:
		argument[0] = DAYS / 2 + random_below(DAYS / 2);
		expected.rows = 0;
		plan_join();
		return;
	default: /* LOAD and INDEX: a lookup by the index afterwards */
		argument[0] = random_from_1(ACCOUNTS);
		for (int i = 1; i <= ENTRIES; i++)
			count += entry[i].account == argument[0];
	}
	expected.digest = digest_number(EMPTY_DIGEST, count);
}

static void prepare(struct context *c, uint64_t n)
{
	(void)n;
	plan_execution();
	if (work == LOAD)
		succeeded(c, engine->script(database, "DROP TABLE entry;"));
}

static void run(struct context *c, uint64_t n, uint64_t *check)
{
	(void)n;
	(void)check;
	switch (work) {
	case LOAD: succeeded(c, load()); break;
	case INDEX: succeeded(c, engine->script(database, "CREATE INDEX entry_account ON entry (account);")); break;
	default: succeeded(c, engine->execute(database, COUNT + work - COUNTING, argument, &actual));
	}
}

static void finish(struct context *c, uint64_t n, uint64_t *check)
{
	struct query_result whole;
	uint64_t all = 0;
	if (work == INDEX && (!succeeded(c, engine->execute(database, INDEXED, argument, &actual)) ||
			      !succeeded(c, engine->script(database, engine->drop_index))))
		return;
	if (work == LOAD) {
		for (int i = 1; i <= ENTRIES; i++)
			all += entry_digest(i);
		if (!succeeded(c, engine->execute(database, WHOLE, NULL, &whole) && engine->execute(database, INDEXED, argument, &actual)))
			return;
		actual.rows = whole.rows == ENTRIES && whole.digest == all ? actual.rows : 0;
	}
	*check = actual.rows == expected.rows && actual.digest == expected.digest ? n : 0;
}

static uint64_t expect(struct context *c, uint64_t n)
{
	(void)c;
	return n;
}

static void teardown(struct context *c)
{
	engine->disconnect(database);
	engine->stop(c);
}

const struct kernel kernel = {.name = "db/bulk",
			      .setup = setup,
			      .prepare = prepare,
			      .run = run,
			      .finish = finish,
			      .expect = expect,
			      .teardown = teardown,
			      .single = 1};
