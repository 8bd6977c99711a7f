/* db/bulk, db/query: work on a whole table: work= load (made and filled, in one transaction), index (created), count (of rows by a condition
 * that no index helps with), range (a tenth of the rows is read by the primary key), join (with a small table, grouped and added up).
 *
 * The table has 100,000 entries of 1,000 accounts in 50 branches, from seed=. An operation is one execution, and what it answers or has made is compared
 * with the model after it, as all others are.
 */
#define _GNU_SOURCE
#include <dlfcn.h>

#include "engines.h"
#include "random.h"

enum { ENTRIES = 100000, ACCOUNTS = 1000, GROUPS = 50, AMOUNTS = 10000, DAYS = 3650, BATCH_BYTES = 1 << 16 };
enum { WHOLE, COUNT, RANGE, JOIN, INDEXED };

static struct {
	int account, amount, day;
} entry[ENTRIES + 1];
static int group_of[ACCOUNTS + 1];

static const char *const works[] = {"load", "index", "count", "range", "join"};
enum { LOAD, INDEX, COUNTING, RANGING, JOINING, WORKS };

static const struct engine *engine;
static struct database *database;
static int work;
static struct answer is, right;
static int64_t argument[MOST_ARGUMENTS];

static uint64_t digest_of(int i)
{
	return with_number(with_number(with_number(with_number(NOTHING, i), entry[i].account), entry[i].amount), entry[i].day);
}

/* Whether it was done; the first that was not is said. */
static int done(struct context *c, int well)
{
	if (!well)
		failed_because(c, works[work], "%s", engine->why(database));
	return well;
}

/* The statements that fill a table, in inserts of many rows. */
static int fill(void)
{
	static char sql[BATCH_BYTES];
	int length = 0, well = 1;
	for (int i = 1; well && i <= ENTRIES; i++) {
		length += length == 0 ? snprintf(sql, sizeof sql, "INSERT INTO entry VALUES ") : snprintf(sql + length, 2, ",");
		length += snprintf(sql + length, sizeof sql - (size_t)length, "(%d,%d,%d,%d,'entry %06d of the account')", i, entry[i].account,
				   entry[i].amount, entry[i].day, i);
		if (length > BATCH_BYTES - 256 || i == ENTRIES) {
			snprintf(sql + length, 2, ";");
			well = engine->script(database, sql);
			length = 0;
		}
	}
	return well;
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
	int well = engine->script(database, "CREATE TABLE account (id INTEGER NOT NULL PRIMARY KEY, branch INTEGER NOT NULL);") &&
		   engine->script(database, "BEGIN;");
	for (int i = 1; well && i <= ACCOUNTS; i++) {
		snprintf(sql, sizeof sql, "INSERT INTO account VALUES (%d,%d);", i, group_of[i]);
		well = engine->script(database, sql);
	}
	return well && engine->script(database, "COMMIT;");
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
	engine = engine_called(c, parameter(c, "engine", "sqlite"));
	while (work < WORKS && strcmp(works[work], name) != 0)
		work++;
	if (work == WORKS)
		wrong_arguments(c, "work=%s is none that there is", name);
	random_state = parameter_u64(c, "seed", 1987);
	for (int i = 1; i <= ACCOUNTS; i++)
		group_of[i] = from_one_to(GROUPS);
	for (int i = 1; i <= ENTRIES; i++) {
		entry[i].account = from_one_to(ACCOUNTS);
		entry[i].amount = from_one_to(AMOUNTS);
		entry[i].day = drawn(DAYS);
	}
	if (!engine->start(c) || (database = engine->connect(c)) == NULL)
		return;
	done(c, load_accounts() && load() && analyze(engine, database, "entry, account") && prepare_all());
}

static void plan_join(void)
{
	int64_t sum[GROUPS + 1] = {0}, count[GROUPS + 1] = {0};
	for (int i = 1; i <= ENTRIES; i++)
		if (entry[i].day < argument[0]) {
			sum[group_of[entry[i].account]] += entry[i].amount;
			count[group_of[entry[i].account]]++;
		}
	for (int g = 1; g <= GROUPS; g++)
		if (count[g] > 0) {
			right.digest += with_number(with_number(with_number(NOTHING, g), count[g]), sum[g]);
			right.rows++;
		}
}

/* Arguments of the next execution, and what it must answer. */
static void plan(void)
{
	int64_t count = 0;
	right = (struct answer){.rows = 1};
	switch (work) {
	case COUNTING:
		argument[0] = AMOUNTS / 4 + from_one_to(AMOUNTS / 2);
		for (int i = 1; i <= ENTRIES; i++)
			count += entry[i].amount < argument[0];
		break;
	case RANGING:
		argument[0] = from_one_to(ENTRIES - ENTRIES / 10);
		argument[1] = argument[0] + ENTRIES / 10 - 1;
		right.rows = ENTRIES / 10;
		for (int i = (int)argument[0]; i <= argument[1]; i++)
			right.digest += digest_of(i);
		return;
	case JOINING:
		argument[0] = DAYS / 2 + drawn(DAYS / 2);
		right.rows = 0;
		plan_join();
		return;
	default: /* of an index, that what it finds is there */
		argument[0] = from_one_to(ACCOUNTS);
		for (int i = 1; i <= ENTRIES; i++)
			count += entry[i].account == argument[0];
	}
	right.digest = with_number(NOTHING, count);
}

static void prepare(struct context *c, uint64_t n)
{
	(void)n;
	plan();
	if (work == LOAD)
		done(c, engine->script(database, "DROP TABLE entry;"));
}

static void run(struct context *c, uint64_t n, uint64_t *check)
{
	(void)n;
	(void)check;
	switch (work) {
	case LOAD: done(c, load()); break;
	case INDEX: done(c, engine->script(database, "CREATE INDEX entry_account ON entry (account);")); break;
	default: done(c, engine->execute(database, COUNT + work - COUNTING, argument, &is));
	}
}

static void finish(struct context *c, uint64_t n, uint64_t *check)
{
	struct answer whole;
	uint64_t all = 0;
	if (work == INDEX && (!done(c, engine->execute(database, INDEXED, argument, &is)) ||
			      !done(c, engine->script(database, engine->drop_index))))
		return;
	if (work == LOAD) {
		for (int i = 1; i <= ENTRIES; i++)
			all += digest_of(i);
		if (!done(c, engine->execute(database, WHOLE, NULL, &whole) && engine->execute(database, INDEXED, argument, &is)))
			return;
		is.rows = whole.rows == ENTRIES && whole.digest == all ? is.rows : 0;
	}
	*check = is.rows == right.rows && is.digest == right.digest ? n : 0;
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
