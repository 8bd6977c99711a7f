/* The random Boolean equations of app/plagen: generation, output as a file, and a reference evaluation.
 *
 * A file has a line `input NAME...`, a line `output NAME...`, and equations `NAME = EXPRESSION`: first of terms, then of the outputs.
 * Operator precedence is that of C: ! & ^ |.
 */
#ifndef GRITSTONE_APP_EQUATIONS_H
#define GRITSTONE_APP_EQUATIONS_H

#include "program.h"

enum { MAX_INPUTS = 12, MAX_OUTPUTS = 16, MAX_LINES = 400, OPERANDS = 4 };

/* `((a OP b) OP c) OP d`; operands are inputs or earlier terms, possibly inverted. */
struct equation {
	unsigned operand[OPERANDS]; /* index: inputs, then equations */
	unsigned char inverted[OPERANDS];
	char operators[OPERANDS - 1];
};

struct equations {
	unsigned inputs, outputs, count;
	struct equation equation[MAX_LINES];
};

static void draw_equations(struct equations *e, unsigned inputs, unsigned outputs, unsigned lines, uint64_t seed)
{
	*e = (struct equations){.inputs = inputs, .outputs = outputs, .count = lines - 2};
	for (unsigned i = 0, terms = e->count - outputs; i < e->count; i++) {
		unsigned earlier = i < terms ? i : terms; /* outputs are no operands */
		struct equation *q = &e->equation[i];
		for (unsigned j = 0; j < OPERANDS; j++) {
			uint64_t word = draw(&seed);
			int is_term = earlier > 0 && word % 8 < (i < terms ? 3 : 6);
			q->operand[j] = is_term ? inputs + (unsigned)(word >> 8) % earlier : (unsigned)(word >> 8) % inputs;
			q->inverted[j] = word >> 40 & 1;
			if (j > 0)
				q->operators[j - 1] = "&&&|||^^"[word >> 48 & 7];
		}
	}
}

static void put_name(struct context *c, struct text *t, const struct equations *e, unsigned i)
{
	unsigned terms = e->count - e->outputs;
	if (i < e->inputs)
		append_text(c, t, "x%u", i);
	else if (i - e->inputs < terms)
		append_text(c, t, "t%u", i - e->inputs);
	else
		append_text(c, t, "y%u", i - e->inputs - terms);
}

static void write_equations(struct context *c, struct text *t, const struct equations *e)
{
	unsigned all = e->inputs + e->count;
	t->length = 0;
	append_text(c, t, "input");
	for (unsigned i = 0; i < all; i = i + 1 == e->inputs ? all - e->outputs : i + 1) {
		append_text(c, t, i == all - e->outputs ? "\noutput " : " ");
		put_name(c, t, e, i);
	}
	append_text(c, t, "\n");
	for (unsigned i = 0; i < e->count; i++) {
		const struct equation *q = &e->equation[i];
		put_name(c, t, e, e->inputs + i);
		append_text(c, t, " = %.*s", OPERANDS - 2, "((((");
		for (unsigned j = 0; j < OPERANDS; j++) {
			append_text(c, t, "%s", q->inverted[j] ? "!" : "");
			put_name(c, t, e, q->operand[j]);
			if (j + 1 < OPERANDS)
				append_text(c, t, "%s %c ", j > 0 ? ")" : "", q->operators[j]);
		}
		append_text(c, t, "\n");
	}
}

/* Reference evaluation: inputs and outputs as bit sets. */
static unsigned evaluate(const struct equations *e, unsigned inputs)
{
	unsigned char value[MAX_INPUTS + MAX_LINES];
	unsigned outputs = 0;
	for (unsigned i = 0; i < e->inputs; i++)
		value[i] = inputs >> i & 1;
	for (unsigned i = 0; i < e->count; i++) {
		const struct equation *q = &e->equation[i];
		unsigned char v = value[q->operand[0]] ^ q->inverted[0];
		for (unsigned j = 1; j < OPERANDS; j++) {
			unsigned char w = value[q->operand[j]] ^ q->inverted[j];
			v = q->operators[j - 1] == '&' ? v & w : q->operators[j - 1] == '|' ? v | w : v ^ w;
		}
		value[e->inputs + i] = v;
	}
	for (unsigned i = 0; i < e->outputs; i++)
		outputs |= (unsigned)value[e->inputs + e->count - e->outputs + i] << i;
	return outputs;
}

#endif
