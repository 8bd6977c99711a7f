/* db/fasttrack: response time of one of ten transactions, in a random mix of all ten by one client (hp-1987, section 6, tables 6.1 and
 * 6.2).
 *
 * The ten are shuffled as a deck, so that all kinds are equally frequent; an operation is one of kind=, timed from BEGIN to COMMIT or
 * ROLLBACK. Every result is compared with an in-memory model (data.h), and after each sample the whole database: it must contain all
 * updates and nothing that was rolled back. engine= is the database, lock= `rows` or `tables`, seed= seeds data, order and arguments.
 */
#define _GNU_SOURCE
#include <dlfcn.h>

#include "data.h"
#include "engines.h"

enum { KINDS = 10, DELETED = 40, RAISED = 250, JOINED = 3, READINGS = 101 };
enum { BEGIN, COMMIT, ROLLBACK, UNLOCK, SECOND, FIRST, LOCK = FIRST + KINDS, WHOLE = LOCK + KINDS };

static const struct kind {
	const char *sql, *columns, *tables[3];
	int writes, rolled_back;
} kinds[KINDS] = {
	{"SELECT id, code, branch, balance, name FROM customer WHERE id = ?", "iiiit", {"customer"}, 0, 0},
	{"SELECT id, code, branch, balance, name FROM customer WHERE code = ?", "iiiit", {"customer"}, 0, 0},
	{"SELECT id, customer, amount, state, memo FROM orders WHERE id BETWEEN ? AND ?", "iiiit", {"orders"}, 0, 0},
	{"SELECT branch.id, branch.name, region.name, target FROM branch JOIN region ON region.id = branch.region WHERE region.id = ? "
	 "ORDER BY branch.id", "itti", {"branch", "region"}, 0, 0},
	{"SELECT count(*), sum(quantity * price), sum(balance) FROM customer JOIN orders ON orders.customer = customer.id "
	 "JOIN line ON line.order_id = orders.id WHERE branch BETWEEN ? AND ?", "iii", {"customer", "orders", "line"}, 0, 0},
	{"UPDATE customer SET balance = balance + ? WHERE id = ?", NULL, {"customer"}, 1, 0},
	{"DELETE FROM line WHERE order_id BETWEEN ? AND ?", NULL, {"line"}, 1, 1},
	{"UPDATE orders SET amount = amount + ?, state = state + 1 WHERE customer = ?", NULL, {"orders", "customer"}, 1, 0},
	{"UPDATE line SET quantity = quantity + 1 WHERE order_id BETWEEN ? AND ?", NULL, {"line"}, 1, 1},
	{"SELECT id, name, budget FROM region ORDER BY id", "iti", {"region"}, 0, 0},
};
/* The second statement of transaction 8 is the only one of transaction 6, with the same arguments. */
enum { SINGLE_UPDATE = 5, DOUBLE_UPDATE = 7 };

static const struct engine *engine;
static struct database *database;
static int measured, table_locks;
static uint64_t clock_cost;

/* CPU time since the size of regions last changed, i.e. of the samples and the end of calibration. */
static struct {
	uint64_t region, operations, client, server;
} cpu;

/* Chooses the arguments of a transaction, and computes the expected result. */
static struct query_result plan_transaction(int kind, int64_t *argument)
{
	struct query_result a = {.rows = 1};
	int i = random_from_1(kind == 2 ? ORDERS : CUSTOMERS), first;
	int64_t value = 0, balance = 0;
	argument[0] = argument[1] = i;
	switch (kind) {
	case 1:
		argument[0] = customer_code(i);
		__attribute__((fallthrough));
	case 0: a.digest = customer_row(i); break;
	case 2:
		argument[0] = 2 * i - 1, argument[1] = 2 * i;
		a.digest = order_row(i);
		break;
	case 3:
		argument[0] = first = random_from_1(REGIONS);
		a.rows = 0;
		for (int b = 1; b <= BRANCHES; b++)
			if (model.branch[b].region == first) {
				uint64_t row = digest_name(digest_name(digest_number(EMPTY_DIGEST, b), "branch", b), "region", first);
				a.digest += digest_number(row, model.branch[b].target);
				a.rows++;
			}
		break;
	case 4:
		argument[0] = first = random_from_1(BRANCHES - JOINED + 1), argument[1] = first + JOINED - 1;
		for (int customer = 1, end, index; customer <= CUSTOMERS; customer++) {
			if (model.customer[customer].branch < first || model.customer[customer].branch >= first + JOINED)
				continue;
			for (index = model.first_order[customer], end = model.first_order[customer + 1]; index < end; index++, a.rows += LINES) {
				balance += LINES * (int64_t)model.customer[customer].balance;
				for (int j = 0; j < LINES; j++)
					value += (int64_t)model.line[model.by_customer[index]][j].quantity * model.line[model.by_customer[index]][j].price;
			}
		}
		a.digest = digest_number(digest_number(digest_number(EMPTY_DIGEST, a.rows - 1), value), balance);
		a.rows = 1;
		break;
	case SINGLE_UPDATE: argument[0] = random_from_1(100); break;
	case DOUBLE_UPDATE:
		argument[0] = random_from_1(100);
		a.rows = model.first_order[i + 1] - model.first_order[i];
		break;
	case 6:
	case 8:
		a.rows = kind == 6 ? DELETED : RAISED;
		first = random_from_1(ORDERS - (int)a.rows / LINES);
		argument[0] = 2 * first, argument[1] = 2 * first + 2 * (a.rows / LINES) - 1;
		a.rows = a.rows / LINES * LINES;
		break;
	default:
		for (int r = 1; r <= REGIONS; r++)
			a.digest += region_row(r);
		a.rows = REGIONS;
	}
	return a;
}

/* Applies a committed transaction to the model. */
static void apply(int kind, const int64_t *argument)
{
	if (kind == DOUBLE_UPDATE)
		for (int index = model.first_order[argument[1]]; index < model.first_order[argument[1] + 1]; index++) {
			model.order[model.by_customer[index]].amount += (int)argument[0];
			model.order[model.by_customer[index]].state++;
		}
	if (kind == SINGLE_UPDATE || kind == DOUBLE_UPDATE)
		model.customer[argument[1]].balance += (int)argument[0];
}

static int execute(struct context *c, int statement, const int64_t *argument, struct query_result *query_result)
{
	if (engine->execute(database, statement, argument, query_result))
		return 1;
	failed_because(c, "transaction", "%s", engine->error(database));
	return 0;
}

/* Returns whether all results were correct. */
static int run_transaction(struct context *c, int kind)
{
	const struct kind *k = &kinds[kind];
	int64_t argument[MAX_ARGUMENTS];
	struct query_result expected = plan_transaction(kind, argument), actual, second = {.rows = 1}, none;
	pid_t server = engine->server(database);
	uint64_t server_before = kind == measured && server != 0 ? process_cpu_ns(server) : 0;
	uint64_t before = kind == measured ? process_cpu_ns(0) : 0, start = now_ns();
	int done = execute(c, BEGIN, NULL, &none) && (!table_locks || engine->lock == NULL || execute(c, LOCK + kind, NULL, &none)) &&
		   execute(c, FIRST + kind, argument, &actual) && (kind != DOUBLE_UPDATE || execute(c, SECOND, argument, &second)) &&
		   execute(c, k->rolled_back ? ROLLBACK : COMMIT, NULL, &none) &&
		   (!table_locks || engine->unlock == NULL || execute(c, UNLOCK, NULL, &none));
	uint64_t end = now_ns(), client = kind == measured ? process_cpu_ns(0) - before : 0;
	if (!done)
		return 0;
	if (kind == measured) {
		record(c, start, end);
		cpu.operations++;
		cpu.client += client > clock_cost ? client - clock_cost : 0;
		cpu.server += server != 0 ? process_cpu_ns(server) - server_before : 0;
	}
	apply(kind, argument);
	return actual.rows == expected.rows && second.rows == 1 && (k->columns == NULL || actual.digest == expected.digest);
}

static void lock_statement(const struct kind *k, char *text, size_t size)
{
	int length = snprintf(text, size, "%s ", engine->lock);
	for (int i = 0; i < 3 && k->tables[i] != NULL; i++)
		length += snprintf(text + length, size - (size_t)length, "%s%s%s", i > 0 ? ", " : "", k->tables[i], engine->lock_each[k->writes]);
	snprintf(text + length, size - (size_t)length, "%s", engine->lock_all[k->writes]);
}

static int prepare_all(void)
{
	char lock[256];
	int ok = engine->prepare(database, BEGIN, table_locks ? engine->begin_exclusive : engine->begin, NULL) &&
		    engine->prepare(database, COMMIT, "COMMIT", NULL) && engine->prepare(database, ROLLBACK, "ROLLBACK", NULL) &&
		    (engine->unlock == NULL || engine->prepare(database, UNLOCK, engine->unlock, NULL)) &&
		    engine->prepare(database, SECOND, kinds[SINGLE_UPDATE].sql, NULL);
	for (int i = 0; ok && i < KINDS; i++) {
		ok = engine->prepare(database, FIRST + i, kinds[i].sql, kinds[i].columns);
		if (ok && table_locks && engine->lock != NULL) {
			lock_statement(&kinds[i], lock, sizeof lock);
			ok = engine->prepare(database, LOCK + i, lock, NULL);
		}
	}
	return ok && prepare_compare(engine, database, WHOLE);
}

/* Median time of two readings of the CPU clock. */
static uint64_t measure_clock_cost(void)
{
	uint64_t cost[READINGS];
	for (int i = 0, index; i < READINGS; i++) {
		uint64_t before = process_cpu_ns(0), elapsed = process_cpu_ns(0) - before;
		for (index = i; index > 0 && cost[index - 1] > elapsed; index--)
			cost[index] = cost[index - 1];
		cost[index] = elapsed;
	}
	return cost[READINGS / 2];
}

static void setup(struct context *c)
{
	const char *lock = parameter(c, "lock", "rows");
	uint64_t kind = parameter_u64(c, "kind", 1), seed = parameter_u64(c, "seed", 1987);
	table_locks = strcmp(lock, "tables") == 0;
	engine = find_engine(c, parameter(c, "engine", "sqlite"));
	if (kind < 1 || kind > KINDS || (!table_locks && strcmp(lock, "rows") != 0))
		wrong_arguments(c, "kind= is from 1 to %d, lock= rows or tables", KINDS);
	measured = (int)kind - 1;
	generate(seed);
	if (!engine->start(c) || (database = engine->connect(c)) == NULL || !load(c, engine, database))
		return;
	if (!prepare_all())
		failed_because(c, "prepare", "%s", engine->error(database));
	clock_cost = measure_clock_cost();
}

static void prepare(struct context *c, uint64_t n)
{
	(void)c;
	if (n != cpu.region)
		memset(&cpu, 0, sizeof cpu);
	cpu.region = n;
}

static void run(struct context *c, uint64_t n, uint64_t *check)
{
	int deck[KINDS] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
	for (uint64_t i = 0; i < n; i++)
		for (int remaining = KINDS; remaining > 0; remaining--) {
			int index = random_below(remaining), kind = deck[index];
			deck[index] = deck[remaining - 1];
			deck[remaining - 1] = kind;
			*check += (uint64_t)run_transaction(c, kind);
		}
}

static void finish(struct context *c, uint64_t n, uint64_t *check)
{
	(void)n;
	(void)check;
	compare(c, engine, database, WHOLE);
}

static uint64_t expect(struct context *c, uint64_t n)
{
	(void)c;
	return KINDS * n;
}

static void teardown(struct context *c)
{
	if (cpu.operations > 0)
		note(c, "client_cpu_ns", "%llu", (unsigned long long)(cpu.client / cpu.operations));
	if (cpu.operations > 0 && cpu.server > 0)
		note(c, "server_cpu_ns", "%llu", (unsigned long long)(cpu.server / cpu.operations));
	engine->disconnect(database);
	engine->stop(c);
}

const struct kernel kernel = {
	.name = "db/fasttrack", .setup = setup, .prepare = prepare, .run = run, .finish = finish, .expect = expect, .teardown = teardown};
