/* Nodes and transistors of app/csim, and the netlist reader.
 *
 * A netlist has lines `i NAME...` and `o NAME...` (pins), `e GATE SOURCE DRAIN` (an enhancement transistor) and `d NODE` (a depletion
 * load); vdd and gnd are predefined. All nodes and transistors start in the unknown state.
 */
#ifndef GRITSTONE_APP_CIRCUIT_H
#define GRITSTONE_APP_CIRCUIT_H

#include "program.h"

enum { MAX_NODES = 1 << 14, MAX_DEVICES = 1 << 15, MAX_PINS = 64, BUCKETS = 1 << 12 };
enum state { LOW, HIGH, UNKNOWN };
enum conducts { OFF, ON, MAYBE };
enum strength { NONE, CHARGE, WEAK, STRONG, PIN };
enum signal { CERTAIN, UP, DOWN, SIGNALS };

struct node {
	struct node *next_in_bucket; /* hash chain */
	const char *name;
	size_t length;
	struct device *gated_devices; /* transistors with this gate */
	struct link *links;
	unsigned step; /* of the last evaluation */
	unsigned char state, next, is_pin, has_event, signal[SIGNALS];
};

struct device {
	struct device *next; /* with the same gate */
	struct node *end[2];
	unsigned char conducts, strength;
};

struct link {
	struct link *next;
	struct node *other;
	struct device *device;
};

static struct text net;
static struct node nodes[MAX_NODES], *names[BUCKETS], *inputs[MAX_PINS], *outputs[MAX_PINS];
static struct node *events[MAX_NODES]; /* for the next step */
static struct device devices[MAX_DEVICES];
static struct link links[2 * MAX_DEVICES];
static unsigned node_count, device_count, input_count, output_count, event_count;

static struct node *find_node(struct context *c, const char *name, size_t length)
{
	uint32_t hash = 2166136261u;
	struct node *n;
	for (size_t i = 0; i < length; i++)
		hash = (hash ^ (unsigned char)name[i]) * 16777619u;
	struct node **bucket = &names[(hash ^ hash >> 15) % BUCKETS];
	for (n = *bucket; n != NULL; n = n->next_in_bucket)
		if (n->length == length && memcmp(n->name, name, length) == 0)
			return n;
	if (length == 0 || node_count == MAX_NODES) {
		failed_because(c, "netlist", length == 0 ? "a name is missing" : "more than %d nodes", MAX_NODES);
		return NULL;
	}
	n = &nodes[node_count++];
	*n = (struct node){.next_in_bucket = *bucket, .name = name, .length = length, .state = UNKNOWN};
	return *bucket = n;
}

static struct node *next_node(struct context *c, struct text *t)
{
	const char *word;
	size_t length = next_word(t, &word);
	return find_node(c, word, length);
}

static void schedule(struct node *n)
{
	if (n->is_pin || n->has_event)
		return;
	n->has_event = 1;
	events[event_count++] = n;
}

static enum conducts conducts(enum state gate)
{
	return gate == HIGH ? ON : gate == LOW ? OFF : MAYBE;
}

static void set_state(struct node *n, enum state state)
{
	n->state = (unsigned char)state;
	for (struct device *d = n->gated_devices; d != NULL; d = d->next)
		if (d->conducts != conducts(state)) {
			d->conducts = (unsigned char)conducts(state);
			schedule(d->end[0]);
			schedule(d->end[1]);
		}
}

static void add_device(struct context *c, struct node *gate, struct node *source, struct node *drain)
{
	struct device *d = &devices[device_count];
	if (source == NULL || drain == NULL || device_count == MAX_DEVICES) {
		failed_because(c, "netlist", "a device without a node, or more than %d devices", MAX_DEVICES);
		return;
	}
	*d = (struct device){.end = {source, drain}, .conducts = gate != NULL ? MAYBE : ON, .strength = gate != NULL ? STRONG : WEAK};
	for (int i = 0; i < 2; i++) {
		struct link *l = &links[2 * device_count + (unsigned)i];
		*l = (struct link){d->end[i]->links, d->end[1 - i], d};
		d->end[i]->links = l;
	}
	if (gate != NULL) {
		d->next = gate->gated_devices;
		gate->gated_devices = d;
	}
	device_count++;
}

static unsigned read_pins(struct context *c, struct node **pins, int are_inputs)
{
	const char *word;
	unsigned count = 0;
	for (size_t length; (length = next_word(&net, &word)) > 0 && count < MAX_PINS; count++) {
		struct node *n = find_node(c, word, length);
		if (n == NULL)
			break;
		n->is_pin |= (unsigned char)are_inputs;
		pins[count] = n;
	}
	return count;
}

static int read_netlist(struct context *c, const char *file)
{
	memset(names, 0, sizeof names);
	node_count = device_count = input_count = output_count = event_count = 0;
	if (!read_text(c, &net, file))
		return 0;
	struct node *low = find_node(c, "gnd", 3), *high = find_node(c, "vdd", 3);
	low->is_pin = high->is_pin = 1;
	do {
		const char *word;
		size_t length = next_word(&net, &word);
		struct node *gate, *source;
		switch (length == 1 ? *word : '?') {
		case 'i':
			input_count = read_pins(c, inputs, 1);
			break;
		case 'o':
			output_count = read_pins(c, outputs, 0);
			break;
		case 'e':
			gate = next_node(c, &net);
			source = next_node(c, &net);
			if (gate != NULL)
				add_device(c, gate, source, next_node(c, &net));
			break;
		case 'd':
			add_device(c, NULL, high, next_node(c, &net));
			break;
		default:
			failed_because(c, "netlist", "a line that does not start with i, o, e or d");
			return 0;
		}
	} while (next_line(&net));
	for (unsigned i = 0; i < node_count; i++)
		schedule(&nodes[i]);
	set_state(low, LOW);
	set_state(high, HIGH);
	return 1;
}

#endif
