/* Nodes and transistors of app/csim, and how a netlist becomes lists of connections.
 *
 * A netlist has lines `i NAME...` and `o NAME...` (pins), `e GATE SOURCE DRAIN` (an enhancement transistor) and `d NODE` (a depletion
 * load); vdd and gnd are supplied. Every node and transistor is unknown at first.
 */
#ifndef GRITSTONE_APP_CIRCUIT_H
#define GRITSTONE_APP_CIRCUIT_H

#include "program.h"

enum { MOST_NODES = 1 << 14, MOST_DEVICES = 1 << 15, MOST_PINS = 64, BUCKETS = 1 << 12 };
enum state { LOW, HIGH, UNKNOWN };
enum conducts { OFF, ON, MAYBE };
enum strength { NONE, CHARGE, WEAK, STRONG, PIN };
enum signal { CERTAIN, UP, DOWN, SIGNALS };

struct node {
	struct node *chained; /* names of one bucket */
	const char *name;
	size_t length;
	struct device *gated; /* transistors of which it is the gate */
	struct link *links;
	unsigned step; /* in which it was looked at last */
	unsigned char state, next, is_pin, has_event, signal[SIGNALS];
};

struct device {
	struct device *next; /* of the same gate */
	struct node *end[2];
	unsigned char conducts, strength;
};

struct link {
	struct link *next;
	struct node *other;
	struct device *device;
};

static struct text net;
static struct node nodes[MOST_NODES], *names[BUCKETS], *inputs[MOST_PINS], *outputs[MOST_PINS];
static struct node *events[MOST_NODES]; /* to be looked at in the next step */
static struct device devices[MOST_DEVICES];
static struct link links[2 * MOST_DEVICES];
static unsigned node_count, device_count, input_count, output_count, event_count;

static struct node *node_of(struct context *c, const char *name, size_t length)
{
	uint32_t hash = 2166136261u;
	struct node *n;
	for (size_t i = 0; i < length; i++)
		hash = (hash ^ (unsigned char)name[i]) * 16777619u;
	struct node **bucket = &names[(hash ^ hash >> 15) % BUCKETS];
	for (n = *bucket; n != NULL; n = n->chained)
		if (n->length == length && memcmp(n->name, name, length) == 0)
			return n;
	if (length == 0 || node_count == MOST_NODES) {
		failed_because(c, "netlist", length == 0 ? "a name is missing" : "more than %d nodes", MOST_NODES);
		return NULL;
	}
	n = &nodes[node_count++];
	*n = (struct node){.chained = *bucket, .name = name, .length = length, .state = UNKNOWN};
	return *bucket = n;
}

static struct node *next_node(struct context *c, struct text *t)
{
	const char *word;
	size_t length = next_word(t, &word);
	return node_of(c, word, length);
}

static void set_event(struct node *n)
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

static void change(struct node *n, enum state state)
{
	n->state = (unsigned char)state;
	for (struct device *d = n->gated; d != NULL; d = d->next)
		if (d->conducts != conducts(state)) {
			d->conducts = (unsigned char)conducts(state);
			set_event(d->end[0]);
			set_event(d->end[1]);
		}
}

static void add_device(struct context *c, struct node *gate, struct node *source, struct node *drain)
{
	struct device *d = &devices[device_count];
	if (source == NULL || drain == NULL || device_count == MOST_DEVICES) {
		failed_because(c, "netlist", "a device without a node, or more than %d devices", MOST_DEVICES);
		return;
	}
	*d = (struct device){.end = {source, drain}, .conducts = gate != NULL ? MAYBE : ON, .strength = gate != NULL ? STRONG : WEAK};
	for (int i = 0; i < 2; i++) {
		struct link *l = &links[2 * device_count + (unsigned)i];
		*l = (struct link){d->end[i]->links, d->end[1 - i], d};
		d->end[i]->links = l;
	}
	if (gate != NULL) {
		d->next = gate->gated;
		gate->gated = d;
	}
	device_count++;
}

static unsigned read_pins(struct context *c, struct node **pins, int are_inputs)
{
	const char *word;
	unsigned count = 0;
	for (size_t length; (length = next_word(&net, &word)) > 0 && count < MOST_PINS; count++) {
		struct node *n = node_of(c, word, length);
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
	struct node *low = node_of(c, "gnd", 3), *high = node_of(c, "vdd", 3);
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
			failed_because(c, "netlist", "a line that is none of i, o, e and d");
			return 0;
		}
	} while (next_line(&net));
	for (unsigned i = 0; i < node_count; i++)
		set_event(&nodes[i]);
	change(low, LOW);
	change(high, HIGH);
	return 1;
}

#endif
