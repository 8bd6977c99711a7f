/* The database of the workloads, and the in-memory model against which every result is compared.
 *
 * Five tables of a trading company: regions, their branches, customers of a branch, orders of a customer, three lines of each order. All
 * data is generated from a seed. The model does not use the database, and so detects a lost update or an incomplete rollback.
 */
#ifndef GRITSTONE_DB_DATA_H
#define GRITSTONE_DB_DATA_H

#include "engine.h"
#include "random.h"

enum { REGIONS = 20, BRANCHES = 100, CUSTOMERS = 2000, ORDERS = 10000, LINES = 3, PARTS = 500, CODE = 700000, BATCH_BYTES = 1 << 16 };

/* Branches of customers and customers of orders are random. Orders have even numbers, so that a range of two contains one. */
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
	int first_order[CUSTOMERS + 2], by_customer[ORDERS]; /* orders sorted by customer, and the index of each customer's first */
} model;

/* Secondary key of a customer, in another order than the primary key. */
static inline int customer_code(int customer) { return CODE + customer * 1237 % 2003; }

static void generate(uint64_t seed)
{
	random_state = seed;
	for (int i = 1; i <= REGIONS; i++)
		model.budget[i] = 1000 * random_from_1(900);
	for (int i = 1; i <= BRANCHES; i++)
		model.branch[i] = (struct branch){i % REGIONS + 1, 100 * random_from_1(900)};
	for (int i = 1; i <= CUSTOMERS; i++)
		model.customer[i] = (struct customer){i % BRANCHES + 1, random_below(10000)};
	for (int i = 1; i <= ORDERS; i++) {
		model.order[i] = (struct order){random_from_1(CUSTOMERS), random_from_1(5000), random_below(4)};
		model.first_order[model.order[i].customer + 1]++;
		for (int j = 0; j < LINES; j++)
			model.line[i][j] = (struct order_line){random_from_1(PARTS), random_from_1(20), random_from_1(1000)};
	}
	for (int i = 1; i <= CUSTOMERS + 1; i++)
		model.first_order[i] += model.first_order[i - 1];
	int next[CUSTOMERS + 2];
	memcpy(next, model.first_order, sizeof next);
	for (int i = 1; i <= ORDERS; i++)
		model.by_customer[next[model.order[i].customer]++] = i;
}

static inline uint64_t digest_name(uint64_t digest, const char *what, int number)
{
	char text[32];
	snprintf(text, sizeof text, "%s %06d", what, number);
	return digest_text(digest, text);
}

/* Digests of the model's rows, in the order of the table's columns. */
static inline uint64_t region_row(int i) { return digest_number(digest_name(digest_number(EMPTY_DIGEST, i), "region", i), model.budget[i]); }

static inline uint64_t branch_row(int i)
{
	return digest_number(digest_name(digest_number(digest_number(EMPTY_DIGEST, i), model.branch[i].region), "branch", i), model.branch[i].target);
}

static inline uint64_t customer_row(int i)
{
	uint64_t d = digest_number(digest_number(digest_number(EMPTY_DIGEST, i), customer_code(i)), model.customer[i].branch);
	return digest_name(digest_number(d, model.customer[i].balance), "customer", i);
}

static inline uint64_t order_row(int i)
{
	uint64_t d = digest_number(digest_number(digest_number(EMPTY_DIGEST, 2 * i), model.order[i].customer), model.order[i].amount);
	return digest_name(digest_number(d, model.order[i].state), "order", 2 * i);
}

static inline uint64_t line_rows(int i)
{
	uint64_t sum = 0;
	for (int j = 0; j < LINES; j++) {
		const struct order_line *l = &model.line[i][j];
		uint64_t d = digest_number(digest_number(digest_number(EMPTY_DIGEST, 2 * i), j + 1), l->part);
		sum += digest_number(digest_number(d, l->quantity), l->price);
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

/* Per table: a statement that reads all rows, and the digest of a row of the model. */
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

/* Formats a row as SQL values. Returns the length. */
static int row_values(int table, int i, char *text, size_t size)
{
	const struct customer *cu = &model.customer[table == 2 ? i : 0];
	const struct order *o = &model.order[table == 3 ? i : 0];
	const struct order_line *l = model.line[table == 4 ? i : 0];
	switch (table) {
	case 0: return snprintf(text, size, "(%d,'region %06d',%d)", i, i, model.budget[i]);
	case 1: return snprintf(text, size, "(%d,%d,'branch %06d',%d)", i, model.branch[i].region, i, model.branch[i].target);
	case 2: return snprintf(text, size, "(%d,%d,%d,%d,'customer %06d')", i, customer_code(i), cu->branch, cu->balance, i);
	case 3: return snprintf(text, size, "(%d,%d,%d,%d,'order %06d')", 2 * i, o->customer, o->amount, o->state, 2 * i);
	default:
		return snprintf(text, size, "(%d,1,%d,%d,%d),(%d,2,%d,%d,%d),(%d,3,%d,%d,%d)", 2 * i, l[0].part, l[0].quantity, l[0].price,
				2 * i, l[1].part, l[1].quantity, l[1].price, 2 * i, l[2].part, l[2].quantity, l[2].price);
	}
}

/* Multi-row inserts. Returns 0 on failure. */
static int fill(const struct engine *e, struct database *d, int table)
{
	static char sql[BATCH_BYTES];
	int length = 0;
	for (int i = 1; i <= tables[table].rows; i++) {
		length += length == 0 ? snprintf(sql, sizeof sql, "INSERT INTO %s VALUES ", tables[table].name) : snprintf(sql + length, 2, ",");
		length += row_values(table, i, sql + length, sizeof sql - (size_t)length);
		if (length > BATCH_BYTES - 512 || i == tables[table].rows) {
			snprintf(sql + length, 2, ";");
			if (!e->script(d, sql))
				return 0;
			length = 0;
		}
	}
	return 1;
}

/* Creates the tables, fills them in one transaction, and creates the indexes. */
static int load(struct context *c, const struct engine *e, struct database *d)
{
	int ok = e->script(d, schema) && e->script(d, "BEGIN;");
	for (int table = 0; ok && table < TABLES; table++)
		ok = fill(e, d, table);
	ok = ok && e->script(d, "COMMIT;") && e->script(d, indexes) && analyze(e, d, "region, branch, customer, orders, line");
	if (!ok)
		failed_because(c, "load", "%s", e->error(d));
	return ok;
}

/* Compares the whole database with the model; `first` is the number of the first statement. Returns 0 on a difference. */
static int compare(struct context *c, const struct engine *e, struct database *d, int first)
{
	for (int table = 0; table < TABLES; table++) {
		struct query_result actual;
		uint64_t expected = 0;
		const long rows = tables[table].rows * (tables[table].row == line_rows ? LINES : 1);
		for (int i = 1; i <= tables[table].rows; i++)
			expected += tables[table].row(i);
		if (!e->execute(d, first + table, NULL, &actual)) {
			failed_because(c, "compare", "%s", e->error(d));
			return 0;
		}
		if (actual.rows != rows || actual.digest != expected) {
			failed_because(c, "compare", "the table %s differs from the model: %ld rows, expected %ld", tables[table].name, actual.rows, rows);
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
