/* app/csim: switch-level simulation of a transistor circuit (hp-1987, section 2, table 2.2).
 *
 * One operation is one run of the program: read a flattened netlist and build connection lists (circuit.h), read test vectors, apply each,
 * let the circuit settle, write the outputs. Nodes are low, high or unknown; a signal is as strong as the weakest element on its path: a
 * pin, an enhancement transistor, a depletion load, the charge of a node. Groups of connected nodes are solved by Bryant's switch-level
 * model (IEEE Transactions on Computers, 1984): by the strongest certain signals, and the up and down signals that nothing stronger blocks.
 * The event list holds the nodes at changed transistors; each step is a unit delay. All data are integers and pointers. The circuit is a
 * multiplier (multiplier.h): bits=, products= and seed=. The check value is the number of vectors with the correct product at the outputs.
 */
#include "circuit.h"
#include "multiplier.h"

enum { MAX_PRODUCTS = 1000, MAX_N = 4 };

static struct text stimuli, results;
static struct node *changed[MAX_NODES], *group[MAX_NODES], *stack[MAX_NODES];
static unsigned step, bits, products, files_written;
static uint64_t seed;

/* Computes the strength of one kind of signal at each node of the group, strongest first. An uncertain signal does not pass a node with a
 * stronger certain one. */
static void propagate(unsigned members, enum signal kind)
{
	enum state never = kind == UP ? LOW : kind == DOWN ? HIGH : UNKNOWN + 1;
	for (unsigned i = 0; i < members; i++) {
		struct node *n = group[i];
		unsigned char minimum = kind == CERTAIN ? NONE : n->signal[CERTAIN], strength = n->state != never ? CHARGE : NONE;
		for (struct link *l = n->links; l != NULL; l = l->next)
			if (l->other->is_pin && l->other->state != never && l->device->strength > strength &&
			    (l->device->conducts == ON || (l->device->conducts == MAYBE && kind != CERTAIN)))
				strength = l->device->strength;
		n->signal[kind] = strength >= minimum ? strength : NONE;
	}
	for (unsigned char level = STRONG; level >= CHARGE; level--) {
		unsigned high = 0;
		for (unsigned i = 0; i < members; i++)
			if (group[i]->signal[kind] == level)
				stack[high++] = group[i];
		while (high > 0)
			for (struct link *l = stack[--high]->links; l != NULL; l = l->next) {
				struct node *m = l->other;
				unsigned char passes = l->device->strength < level ? l->device->strength : level;
				if (m->is_pin || l->device->conducts == OFF || (l->device->conducts == MAYBE && kind == CERTAIN) ||
				    passes <= m->signal[kind] || (kind != CERTAIN && passes < m->signal[CERTAIN]))
					continue;
				m->signal[kind] = passes;
				if (passes == level)
					stack[high++] = m;
			}
	}
}

/* Collects the group of nodes connected to `first`, and computes their next states. */
static unsigned solve(struct node *first, unsigned changes)
{
	unsigned members = 1;
	group[0] = first;
	first->step = step;
	for (unsigned i = 0; i < members; i++)
		for (struct link *l = group[i]->links; l != NULL; l = l->next)
			if (l->device->conducts != OFF && !l->other->is_pin && l->other->step != step) {
				l->other->step = step;
				group[members++] = l->other;
			}
	for (enum signal kind = CERTAIN; kind <= DOWN; kind++)
		propagate(members, kind);
	for (unsigned i = 0; i < members; i++) {
		struct node *n = group[i];
		n->next = n->signal[DOWN] == NONE ? HIGH : n->signal[UP] == NONE ? LOW : UNKNOWN;
		if (n->next != n->state)
			changed[changes++] = n;
	}
	return changes;
}

static int settle(struct context *c)
{
	for (unsigned last = step + 2 * node_count; event_count > 0;) {
		unsigned changes = 0, count = event_count;
		if (step++ == last) {
			failed_because(c, "settle", "the circuit oscillates");
			return 0;
		}
		for (unsigned i = 0; i < count; i++) {
			events[i]->has_event = 0;
			if (events[i]->step != step)
				changes = solve(events[i], changes);
		}
		event_count = 0;
		for (unsigned i = 0; i < changes; i++)
			set_state(changed[i], changed[i]->next);
	}
	return 1;
}

static int simulate(struct context *c)
{
	results.length = step = 0;
	do {
		const char *word;
		if (next_word(&stimuli, &word) != input_count) {
			failed_because(c, "vectors", "a vector with a wrong number of bits");
			return 0;
		}
		for (unsigned i = 0; i < input_count; i++)
			if (inputs[i]->state != (word[i] == '1' ? HIGH : LOW)) {
				set_state(inputs[i], word[i] == '1' ? HIGH : LOW);
				for (struct link *l = inputs[i]->links; l != NULL; l = l->next)
					if (l->device->conducts != OFF)
						schedule(l->other);
			}
		if (!settle(c))
			return 0;
		if (results.length + output_count + 1 > MAX_TEXT) {
			failed_because(c, "results", "more than %d bytes", MAX_TEXT);
			return 0;
		}
		for (unsigned i = 0; i < output_count; i++)
			results.bytes[results.length++] = "01X"[outputs[i]->state];
		results.bytes[results.length++] = '\n';
	} while (next_line(&stimuli));
	return 1;
}

static void setup(struct context *c)
{
	bits = (unsigned)parameter_u64(c, "bits", 16);
	products = (unsigned)parameter_u64(c, "products", 200);
	seed = parameter_u64(c, "seed", 1987);
	if (bits < 2 || bits > MAX_BITS || products < 1 || products > MAX_PRODUCTS)
		wrong_arguments(c, "bits= is from 2 to %d, products= from 1 to %d", MAX_BITS, MAX_PRODUCTS);
}

static void prepare(struct context *c, uint64_t n)
{
	(void)n;
	results.length = 0;
	write_text(c, &results, "multiplier.out", O_CREAT | O_TRUNC);
	if (files_written)
		return;
	net.length = stimuli.length = 0;
	netlist(c, &net, bits);
	vectors(c, &stimuli, bits, products, seed);
	write_text(c, &net, "multiplier.net", O_CREAT | O_TRUNC);
	write_text(c, &stimuli, "multiplier.vec", O_CREAT | O_TRUNC);
	files_written = 1;
}

static void run(struct context *c, uint64_t n, uint64_t *check)
{
	(void)check;
	for (uint64_t i = 0; i < n; i++)
		if (!read_netlist(c, "multiplier.net") || !read_text(c, &stimuli, "multiplier.vec") || !simulate(c) ||
		    !write_text(c, &results, "multiplier.out", O_APPEND))
			return;
}

/* Whether a line of the results is the product, or all unknown. */
static int line_equals(const char *line, size_t length, uint64_t product, int is_known)
{
	if (length != 2 * bits)
		return 0;
	for (unsigned i = 0; i < 2 * bits; i++)
		if (line[i] != (is_known ? (char)('0' + (product >> i & 1)) : 'X'))
			return 0;
	return 1;
}

/* While phi2 is low the outputs hold the previous product; before the first they are unknown. */
static void finish(struct context *c, uint64_t n, uint64_t *check)
{
	*check = 0;
	if (!read_text(c, &results, "multiplier.out"))
		return;
	for (uint64_t i = 0; i < n; i++) {
		uint64_t state = seed, product = 0;
		for (unsigned v = 0; v < PHASES * products; v++) {
			const char *line;
			if (v % PHASES == 2) {
				uint64_t a, b;
				operands(&state, bits, &a, &b);
				product = a * b;
			}
			size_t length = next_word(&results, &line);
			*check += (uint64_t)line_equals(line, length, product, v >= 2);
			next_line(&results);
		}
	}
	if (*results.cursor != '\0')
		failed_because(c, "results", "more results than vectors");
}

static uint64_t expect(struct context *c, uint64_t n)
{
	(void)c;
	return n * PHASES * products;
}

const struct kernel kernel = {
	.name = "app/csim",
	.setup = setup,
	.prepare = prepare,
	.run = run,
	.finish = finish,
	.expect = expect,
	.max_n = MAX_N,
	.files = 1,
};
