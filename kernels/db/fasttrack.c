/* db/fasttrack: one of ten transactions, while all ten are executed in random order by one client (hp-1987, section 6, tables 6.1 and 6.2).
 *
 * Ten at a time are shuffled, so that each kind is as frequent as any other; an operation is one of kind=, timed from BEGIN to COMMIT or
 * ROLLBACK, and the other nine go on between two of them. Every answer is compared with that of a model in memory (data.h), and after each sample
 * the whole database: updates must be there, and what was rolled back must not. engine= is the database, lock= `rows` or `tables`, seed= that of the
 * data, of the order and of the arguments.
 */
#define _GNU_SOURCE
#include <dlfcn.h>

#include "data.h"
#include "engines.h"

enum { KINDS = 10, DELETED = 40, RAISED = 250, JOINED = 3, READINGS = 101 };
enum { BEGIN, COMMIT, ROLLBACK, UNLOCK, SECOND, FIRST, LOCK = FIRST + KINDS, WHOLE = LOCK + KINDS };

static const struct kind {
	const char *sql, *columns, *tables[3];
	int writes, undone;
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
static int measured, alone;
static uint64_t reading_cost;

/* CPU time of the operations of regions of as many operations as the last: calibration ends with those of the samples. */
static struct {
	uint64_t region, operations, client, server;
} cpu;

/* Arguments of a transaction, and what it must answer. */
static struct answer plan(int kind, int64_t *argument)
{
	struct answer a = {.rows = 1};
	int i = from_one_to(kind == 2 ? ORDERS : CUSTOMERS), first;
	int64_t value = 0, balance = 0;
	argument[0] = argument[1] = i;
	switch (kind) {
	case 1:
		argument[0] = code_of(i);
		__attribute__((fallthrough));
	case 0: a.digest = customer_row(i); break;
	case 2:
		argument[0] = 2 * i - 1, argument[1] = 2 * i;
		a.digest = order_row(i);
		break;
	case 3:
		argument[0] = first = from_one_to(REGIONS);
		a.rows = 0;
		for (int b = 1; b <= BRANCHES; b++)
			if (model.branch[b].region == first) {
				uint64_t row = named(named(with_number(NOTHING, b), "branch", b), "region", first);
				a.digest += with_number(row, model.branch[b].target);
				a.rows++;
			}
		break;
	case 4:
		argument[0] = first = from_one_to(BRANCHES - JOINED + 1), argument[1] = first + JOINED - 1;
		for (int customer = 1, end, at; customer <= CUSTOMERS; customer++) {
			if (model.customer[customer].branch < first || model.customer[customer].branch >= first + JOINED)
				continue;
			for (at = model.first_of[customer], end = model.first_of[customer + 1]; at < end; at++, a.rows += LINES) {
				balance += LINES * (int64_t)model.customer[customer].balance;
				for (int j = 0; j < LINES; j++)
					value += (int64_t)model.line[model.by_customer[at]][j].quantity * model.line[model.by_customer[at]][j].price;
			}
		}
		a.digest = with_number(with_number(with_number(NOTHING, a.rows - 1), value), balance);
		a.rows = 1;
		break;
	case SINGLE_UPDATE: argument[0] = from_one_to(100); break;
	case DOUBLE_UPDATE:
		argument[0] = from_one_to(100);
		a.rows = model.first_of[i + 1] - model.first_of[i];
		break;
	case 6:
	case 8:
		a.rows = kind == 6 ? DELETED : RAISED;
		first = from_one_to(ORDERS - (int)a.rows / LINES);
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

/* What was committed is so in the model from now on. */
static void apply(int kind, const int64_t *argument)
{
	if (kind == DOUBLE_UPDATE)
		for (int at = model.first_of[argument[1]]; at < model.first_of[argument[1] + 1]; at++) {
			model.order[model.by_customer[at]].amount += (int)argument[0];
			model.order[model.by_customer[at]].state++;
		}
	if (kind == SINGLE_UPDATE || kind == DOUBLE_UPDATE)
		model.customer[argument[1]].balance += (int)argument[0];
}

static int execute(struct context *c, int statement, const int64_t *argument, struct answer *answer)
{
	if (engine->execute(database, statement, argument, answer))
		return 1;
	failed_because(c, "transaction", "%s", engine->why(database));
	return 0;
}

/* One transaction; whether all of its answers are right. */
static int transact(struct context *c, int kind)
{
	const struct kind *k = &kinds[kind];
	int64_t argument[MOST_ARGUMENTS];
	struct answer right = plan(kind, argument), is, second = {.rows = 1}, none;
	pid_t server = engine->server(database);
	uint64_t server_before = kind == measured && server != 0 ? cpu_of(server) : 0;
	uint64_t before = kind == measured ? cpu_of(0) : 0, start = now_ns();
	int done = execute(c, BEGIN, NULL, &none) && (!alone || engine->lock == NULL || execute(c, LOCK + kind, NULL, &none)) &&
		   execute(c, FIRST + kind, argument, &is) && (kind != DOUBLE_UPDATE || execute(c, SECOND, argument, &second)) &&
		   execute(c, k->undone ? ROLLBACK : COMMIT, NULL, &none) &&
		   (!alone || engine->end_alone == NULL || execute(c, UNLOCK, NULL, &none));
	uint64_t end = now_ns(), client = kind == measured ? cpu_of(0) - before : 0;
	if (!done)
		return 0;
	if (kind == measured) {
		record(c, start, end);
		cpu.operations++;
		cpu.client += client > reading_cost ? client - reading_cost : 0;
		cpu.server += server != 0 ? cpu_of(server) - server_before : 0;
	}
	apply(kind, argument);
	return is.rows == right.rows && second.rows == 1 && (k->columns == NULL || is.digest == right.digest);
}

/* The statement that locks the tables of a kind. */
static void lock_of(const struct kind *k, char *text, size_t room)
{
	int length = snprintf(text, room, "%s ", engine->lock);
	for (int i = 0; i < 3 && k->tables[i] != NULL; i++)
		length += snprintf(text + length, room - (size_t)length, "%s%s%s", i > 0 ? ", " : "", k->tables[i], engine->lock_each[k->writes]);
	snprintf(text + length, room - (size_t)length, "%s", engine->lock_all[k->writes]);
}

static int prepare_all(void)
{
	char lock[256];
	int there = engine->prepare(database, BEGIN, alone ? engine->begin_alone : engine->begin, NULL) &&
		    engine->prepare(database, COMMIT, "COMMIT", NULL) && engine->prepare(database, ROLLBACK, "ROLLBACK", NULL) &&
		    (engine->end_alone == NULL || engine->prepare(database, UNLOCK, engine->end_alone, NULL)) &&
		    engine->prepare(database, SECOND, kinds[SINGLE_UPDATE].sql, NULL);
	for (int i = 0; there && i < KINDS; i++) {
		there = engine->prepare(database, FIRST + i, kinds[i].sql, kinds[i].columns);
		if (there && alone && engine->lock != NULL) {
			lock_of(&kinds[i], lock, sizeof lock);
			there = engine->prepare(database, LOCK + i, lock, NULL);
		}
	}
	return there && prepare_compare(engine, database, WHOLE);
}

/* What it takes to read the CPU clock twice: the median. */
static uint64_t cost_of_reading(void)
{
	uint64_t cost[READINGS];
	for (int i = 0, at; i < READINGS; i++) {
		uint64_t before = cpu_of(0), took = cpu_of(0) - before;
		for (at = i; at > 0 && cost[at - 1] > took; at--)
			cost[at] = cost[at - 1];
		cost[at] = took;
	}
	return cost[READINGS / 2];
}

static void setup(struct context *c)
{
	const char *lock = parameter(c, "lock", "rows");
	uint64_t kind = parameter_u64(c, "kind", 1), seed = parameter_u64(c, "seed", 1987);
	alone = strcmp(lock, "tables") == 0;
	engine = engine_called(c, parameter(c, "engine", "sqlite"));
	if (kind < 1 || kind > KINDS || (!alone && strcmp(lock, "rows") != 0))
		wrong_arguments(c, "kind= is from 1 to %d, lock= rows or tables", KINDS);
	measured = (int)kind - 1;
	generate(seed);
	if (!engine->start(c) || (database = engine->connect(c)) == NULL || !load(c, engine, database))
		return;
	if (!prepare_all())
		failed_because(c, "prepare", "%s", engine->why(database));
	reading_cost = cost_of_reading();
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
		for (int left = KINDS; left > 0; left--) {
			int at = drawn(left), kind = deck[at];
			deck[at] = deck[left - 1];
			deck[left - 1] = kind;
			*check += (uint64_t)transact(c, kind);
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
