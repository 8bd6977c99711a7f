/* The database of the workloads, and the model of it that they keep in memory, against which every answer is compared.
 *
 * Five tables of a trading company: regions, their branches, customers of a branch, orders of a customer, three lines of each order. All
 * is generated from a seed. What the model says is found without the database, so that a lost update or a rollback that leaves something is seen.
 */
#ifndef GRITSTONE_DB_DATA_H
#define GRITSTONE_DB_DATA_H

#include "engine.h"
#include "random.h"

enum { REGIONS = 20, BRANCHES = 100, CUSTOMERS = 2000, ORDERS = 10000, LINES = 3, PARTS = 500, CODE = 700000, BATCH_BYTES = 1 << 16 };

/* Customers of a branch and orders of a customer are at random. Orders have even numbers, so that a range of two holds one. */
struct branch {
	int region, target;
};
struct customer {
	int branch, balance;
};
struct order {
	int customer, amount, state;
};
struct order_line {
	int part, quantity, price;
};

static struct {
	int budget[REGIONS + 1];
	struct branch branch[BRANCHES + 1];
	struct customer customer[CUSTOMERS + 1];
	struct order order[ORDERS + 1];
	struct order_line line[ORDERS + 1][LINES];
	int first_of[CUSTOMERS + 2], by_customer[ORDERS]; /* orders in the order of their customers */
} model;

/* The number of a customer that the secondary key holds: in another order than the primary key. */
static inline int code_of(int customer) { return CODE + customer * 1237 % 2003; }

static void generate(uint64_t seed)
{
	random_state = seed;
	for (int i = 1; i <= REGIONS; i++)
		model.budget[i] = 1000 * from_one_to(900);
	for (int i = 1; i <= BRANCHES; i++)
		model.branch[i] = (struct branch){i % REGIONS + 1, 100 * from_one_to(900)};
	for (int i = 1; i <= CUSTOMERS; i++)
		model.customer[i] = (struct customer){i % BRANCHES + 1, drawn(10000)};
	for (int i = 1; i <= ORDERS; i++) {
		model.order[i] = (struct order){from_one_to(CUSTOMERS), from_one_to(5000), drawn(4)};
		model.first_of[model.order[i].customer + 1]++;
		for (int j = 0; j < LINES; j++)
			model.line[i][j] = (struct order_line){from_one_to(PARTS), from_one_to(20), from_one_to(1000)};
	}
	for (int i = 1; i <= CUSTOMERS + 1; i++)
		model.first_of[i] += model.first_of[i - 1];
	int next[CUSTOMERS + 2];
	memcpy(next, model.first_of, sizeof next);
	for (int i = 1; i <= ORDERS; i++)
		model.by_customer[next[model.order[i].customer]++] = i;
}

static inline uint64_t named(uint64_t digest, const char *what, int number)
{
	char text[32];
	snprintf(text, sizeof text, "%s %06d", what, number);
	return with_text(digest, text);
}

/* The digests of rows as the model has them, each as its table has the columns. */
static inline uint64_t region_row(int i) { return with_number(named(with_number(NOTHING, i), "region", i), model.budget[i]); }

static inline uint64_t branch_row(int i)
{
	return with_number(named(with_number(with_number(NOTHING, i), model.branch[i].region), "branch", i), model.branch[i].target);
}

static inline uint64_t customer_row(int i)
{
	uint64_t d = with_number(with_number(with_number(NOTHING, i), code_of(i)), model.customer[i].branch);
	return named(with_number(d, model.customer[i].balance), "customer", i);
}

static inline uint64_t order_row(int i)
{
	uint64_t d = with_number(with_number(with_number(NOTHING, 2 * i), model.order[i].customer), model.order[i].amount);
	return named(with_number(d, model.order[i].state), "order", 2 * i);
}

static inline uint64_t line_rows(int i)
{
	uint64_t sum = 0;
	for (int j = 0; j < LINES; j++) {
		const struct order_line *l = &model.line[i][j];
		uint64_t d = with_number(with_number(with_number(NOTHING, 2 * i), j + 1), l->part);
		sum += with_number(with_number(d, l->quantity), l->price);
	}
	return sum;
}

static const char schema[] =
	"CREATE TABLE region (id INTEGER NOT NULL PRIMARY KEY, name VARCHAR(20) NOT NULL, budget INTEGER NOT NULL);"
	"CREATE TABLE branch (id INTEGER NOT NULL PRIMARY KEY, region INTEGER NOT NULL, name VARCHAR(20) NOT NULL, target INTEGER NOT NULL);"
	"CREATE TABLE customer (id INTEGER NOT NULL PRIMARY KEY, code INTEGER NOT NULL, branch INTEGER NOT NULL, balance INTEGER NOT NULL, "
	"name VARCHAR(40) NOT NULL);"
	"CREATE TABLE orders (id INTEGER NOT NULL PRIMARY KEY, customer INTEGER NOT NULL, amount INTEGER NOT NULL, state INTEGER NOT NULL, "
	"memo VARCHAR(40) NOT NULL);"
	"CREATE TABLE line (order_id INTEGER NOT NULL, number INTEGER NOT NULL, part INTEGER NOT NULL, quantity INTEGER NOT NULL, "
	"price INTEGER NOT NULL, PRIMARY KEY (order_id, number));";

static const char indexes[] =
	"CREATE UNIQUE INDEX customer_code ON customer (code);"
	"CREATE INDEX customer_branch ON customer (branch);"
	"CREATE INDEX orders_customer ON orders (customer);";

/* The tables, with what reads each whole and what the rows of the model are. */
static const struct table {
	const char *name, *all, *columns;
	int rows;
	uint64_t (*row)(int);
} tables[] = {
	{"region", "SELECT id, name, budget FROM region", "iti", REGIONS, region_row},
	{"branch", "SELECT id, region, name, target FROM branch", "iiti", BRANCHES, branch_row},
	{"customer", "SELECT id, code, branch, balance, name FROM customer", "iiiit", CUSTOMERS, customer_row},
	{"orders", "SELECT id, customer, amount, state, memo FROM orders", "iiiit", ORDERS, order_row},
	{"line", "SELECT order_id, number, part, quantity, price FROM line", "iiiii", ORDERS, line_rows},
};
enum { TABLES = sizeof tables / sizeof *tables };

/* The values of a table's row as SQL, behind a comma where it is not the first; how long the text is. */
static int values_of(int table, int i, char *text, size_t room)
{
	const struct customer *cu = &model.customer[table == 2 ? i : 0];
	const struct order *o = &model.order[table == 3 ? i : 0];
	const struct order_line *l = model.line[table == 4 ? i : 0];
	switch (table) {
	case 0: return snprintf(text, room, "(%d,'region %06d',%d)", i, i, model.budget[i]);
	case 1: return snprintf(text, room, "(%d,%d,'branch %06d',%d)", i, model.branch[i].region, i, model.branch[i].target);
	case 2: return snprintf(text, room, "(%d,%d,%d,%d,'customer %06d')", i, code_of(i), cu->branch, cu->balance, i);
	case 3: return snprintf(text, room, "(%d,%d,%d,%d,'order %06d')", 2 * i, o->customer, o->amount, o->state, 2 * i);
	default:
		return snprintf(text, room, "(%d,1,%d,%d,%d),(%d,2,%d,%d,%d),(%d,3,%d,%d,%d)", 2 * i, l[0].part, l[0].quantity, l[0].price,
				2 * i, l[1].part, l[1].quantity, l[1].price, 2 * i, l[2].part, l[2].quantity, l[2].price);
	}
}

/* Fills a table in inserts of many rows. Whether it was filled. */
static int fill(const struct engine *e, struct database *d, int table)
{
	static char sql[BATCH_BYTES];
	int length = 0;
	for (int i = 1; i <= tables[table].rows; i++) {
		length += length == 0 ? snprintf(sql, sizeof sql, "INSERT INTO %s VALUES ", tables[table].name) : snprintf(sql + length, 2, ",");
		length += values_of(table, i, sql + length, sizeof sql - (size_t)length);
		if (length > BATCH_BYTES - 512 || i == tables[table].rows) {
			snprintf(sql + length, 2, ";");
			if (!e->script(d, sql))
				return 0;
			length = 0;
		}
	}
	return 1;
}

/* Makes the tables, fills them in one transaction, and indexes them. */
static int load(struct context *c, const struct engine *e, struct database *d)
{
	int there = e->script(d, schema) && e->script(d, "BEGIN;");
	for (int table = 0; there && table < TABLES; table++)
		there = fill(e, d, table);
	there = there && e->script(d, "COMMIT;") && e->script(d, indexes) && analyze(e, d, "region, branch, customer, orders, line");
	if (!there)
		failed_because(c, "load", "%s", e->why(d));
	return there;
}

/* Compares the whole database with the model, by statements from `first` on. Whether they are equal. */
static int compare(struct context *c, const struct engine *e, struct database *d, int first)
{
	for (int table = 0; table < TABLES; table++) {
		struct answer is;
		uint64_t right = 0;
		const long rows = tables[table].rows * (tables[table].row == line_rows ? LINES : 1);
		for (int i = 1; i <= tables[table].rows; i++)
			right += tables[table].row(i);
		if (!e->execute(d, first + table, NULL, &is)) {
			failed_because(c, "compare", "%s", e->why(d));
			return 0;
		}
		if (is.rows != rows || is.digest != right) {
			failed_because(c, "compare", "the table %s is not as the model has it: %ld rows for %ld", tables[table].name, is.rows, rows);
			return 0;
		}
	}
	return 1;
}

static int prepare_compare(const struct engine *e, struct database *d, int first)
{
	for (int table = 0; table < TABLES; table++)
		if (!e->prepare(d, first + table, tables[table].all, tables[table].columns))
			return 0;
	return 1;
}

#endif
