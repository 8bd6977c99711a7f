/* The circuit of app/csim: an array multiplier in ratioed nMOS with two-phase registers, at transistor level, and its test vectors.
 *
 * Operands are latched on inverter gates while phi1 is high, the product while phi2 is. Partial products are NORs of complements; rows of
 * carry-save full adders; the last row is a Manchester carry chain of pass transistors. One multiplication is four vectors: phi1 with the
 * operands; both clocks low with inverted operands, which the latches must ignore; phi2; both low.
 */
#ifndef GRITSTONE_APP_MULTIPLIER_H
#define GRITSTONE_APP_MULTIPLIER_H

#include "program.h"

#define MAX_BITS 24
#define PHASES 4

struct builder {
	struct context *c;
	struct text *net;
	unsigned wires; /* internal wires so far */
};

struct wire {
	char name[12];
};

static struct wire indexed_wire(const char *prefix, unsigned i)
{
	struct wire w;
	snprintf(w.name, sizeof w.name, "%s%u", prefix, i);
	return w;
}

static struct wire new_wire(struct builder *b)
{
	return indexed_wire("n", b->wires++);
}

static const struct wire ground = {"gnd"}, supply = {"vdd"};

/* Enhancement transistor: conducts while its gate is high. */
static void enhancement(struct builder *b, struct wire gate, struct wire source, struct wire drain)
{
	append_text(b->c, b->net, "e %s %s %s\n", gate.name, source.name, drain.name);
}

/* Depletion load: always conducts, weaker than any enhancement transistor. */
static void load(struct builder *b, struct wire w)
{
	append_text(b->c, b->net, "d %s\n", w.name);
}

/* Two transistors in series. */
static void series(struct builder *b, struct wire from, struct wire one, struct wire two, struct wire to)
{
	struct wire middle = new_wire(b);
	enhancement(b, one, from, middle);
	enhancement(b, two, middle, to);
}

static struct wire inverter(struct builder *b, struct wire in)
{
	struct wire out = new_wire(b);
	load(b, out);
	enhancement(b, in, out, ground);
	return out;
}

static struct wire nor(struct builder *b, struct wire one, struct wire two)
{
	struct wire out = new_wire(b);
	load(b, out);
	enhancement(b, one, out, ground);
	enhancement(b, two, out, ground);
	return out;
}

/* (x y + x' y')'; x[1] and y[1] are the complements. */
static struct wire exclusive_or(struct builder *b, const struct wire x[2], const struct wire y[2])
{
	struct wire out = new_wire(b);
	load(b, out);
	series(b, out, x[0], y[0], ground);
	series(b, out, x[1], y[1], ground);
	return out;
}

struct sums {
	struct wire sum, carry;
};

/* Eighteen transistors: carry' = (x y + z (x + y))', sum' = ((x + y + z) carry' + x y z)'. */
static struct sums full_adder(struct builder *b, struct wire x, struct wire y, struct wire z)
{
	struct wire carry = new_wire(b), sum = new_wire(b), either = new_wire(b), any = new_wire(b), both = new_wire(b);
	load(b, carry);
	series(b, carry, x, y, ground);
	enhancement(b, z, carry, either);
	enhancement(b, x, either, ground);
	enhancement(b, y, either, ground);
	load(b, sum);
	enhancement(b, carry, sum, any);
	enhancement(b, x, any, ground);
	enhancement(b, y, any, ground);
	enhancement(b, z, any, ground);
	enhancement(b, x, sum, both);
	series(b, both, y, z, ground);
	return (struct sums){inverter(b, sum), inverter(b, carry)};
}

/* Carry-chain cell: generate, kill or propagate. */
static struct sums carry_cell(struct builder *b, struct wire x, struct wire y, struct wire carry)
{
	struct wire next = new_wire(b);
	struct wire stop = nor(b, x, y), make = nor(b, inverter(b, x), inverter(b, y));
	struct wire pass[2] = {nor(b, make, stop)}, in[2] = {carry, inverter(b, carry)};
	pass[1] = inverter(b, pass[0]);
	enhancement(b, pass[0], carry, next);
	enhancement(b, make, supply, next);
	enhancement(b, stop, next, ground);
	return (struct sums){exclusive_or(b, pass, in), next};
}

/* Dynamic latch with inverted output. */
static struct wire latch(struct builder *b, struct wire phase, struct wire in)
{
	struct wire gate = new_wire(b);
	enhancement(b, phase, in, gate);
	return inverter(b, gate);
}

/* Pins: phi1, phi2, a0 to aN, b0 to bN; products q0 to q2N. */
static void pins(struct builder *b, unsigned bits)
{
	append_text(b->c, b->net, "i phi1 phi2");
	for (unsigned i = 0; i < 2 * bits; i++)
		append_text(b->c, b->net, " %s", indexed_wire(i < bits ? "a" : "b", i % bits).name);
	append_text(b->c, b->net, "\no");
	for (unsigned i = 0; i < 2 * bits; i++)
		append_text(b->c, b->net, " %s", indexed_wire("q", i).name);
	append_text(b->c, b->net, "\n");
}

static void netlist(struct context *c, struct text *net, unsigned bits)
{
	struct builder all = {c, net, 0}, *b = &all;
	struct wire a[MAX_BITS], other[MAX_BITS], product[2 * MAX_BITS], carry = ground;
	struct sums row[MAX_BITS + 1];
	pins(b, bits);
	for (unsigned i = 0; i < bits; i++) {
		a[i] = latch(b, indexed_wire("phi", 1), indexed_wire("a", i));
		other[i] = latch(b, indexed_wire("phi", 1), indexed_wire("b", i));
	}
	for (unsigned j = 0; j <= bits; j++)
		row[j] = (struct sums){j < bits ? nor(b, a[j], other[0]) : ground, ground};
	for (unsigned i = 1; i <= bits; i++) {
		product[i - 1] = row[0].sum;
		for (unsigned j = 0; j < bits && i < bits; j++)
			row[j] = full_adder(b, nor(b, a[j], other[i]), row[j + 1].sum, row[j].carry);
	}
	for (unsigned j = 0; j < bits; j++) {
		struct sums last = carry_cell(b, row[j + 1].sum, row[j].carry, carry);
		product[bits + j] = last.sum;
		carry = last.carry;
	}
	for (unsigned i = 0; i < 2 * bits; i++) {
		struct wire out = indexed_wire("q", i), latched = latch(b, indexed_wire("phi", 2), product[i]);
		load(b, out);
		enhancement(b, latched, out, ground);
	}
}

static void vector(struct context *c, struct text *t, const char *clocks, unsigned bits, uint64_t a, uint64_t b)
{
	char line[2 * MAX_BITS + 1];
	for (unsigned i = 0; i < bits && i < MAX_BITS; i++) {
		line[i] = (char)('0' + (a >> i & 1));
		line[bits + i] = (char)('0' + (b >> i & 1));
	}
	line[2 * bits] = '\0';
	append_text(c, t, "%s%s\n", clocks, line);
}

static void operands(uint64_t *seed, unsigned bits, uint64_t *a, uint64_t *b)
{
	*a = draw(seed) >> (64 - bits);
	*b = draw(seed) >> (64 - bits);
}

static void vectors(struct context *c, struct text *t, unsigned bits, unsigned products, uint64_t seed)
{
	for (unsigned i = 0; i < products; i++) {
		uint64_t a, b;
		operands(&seed, bits, &a, &b);
		vector(c, t, "10", bits, a, b);
		vector(c, t, "00", bits, ~a, ~b);
		vector(c, t, "01", bits, ~a, ~b);
		vector(c, t, "00", bits, ~a, ~b);
	}
}

#endif
