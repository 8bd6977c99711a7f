/* How app/plagen reads equations: trees of operators, and the truth table that they make. */
#ifndef GRITSTONE_APP_FORMULA_H
#define GRITSTONE_APP_FORMULA_H

#include "program.h"

enum { MOST_SYMBOLS = 512, MOST_TREES = 8192, MOST_VARIABLES = 12, DEEPEST = 64 };

struct symbol {
	struct symbol *chained; /* names of one bucket */
	const char *name;
	size_t length;
	const struct tree *is; /* NULL: an input */
	unsigned char value;
};

struct tree {
	char operator; /* of ! & ^ |, or = for the value of a symbol */
	struct symbol *symbol;
	const struct tree *left, *right;
};

/* What a file says. */
struct formulas {
	unsigned inputs, outputs, defined;
	struct symbol *input[MOST_SYMBOLS], *output[MOST_SYMBOLS], *in_order[MOST_SYMBOLS];
};

static struct symbol symbols[MOST_SYMBOLS], *symbol_names[256];
static struct tree trees[MOST_TREES];
static unsigned symbol_count, tree_count, depth;

static int is_part_of_name(char letter)
{
	return (letter >= 'a' && letter <= 'z') || (letter >= '0' && letter <= '9');
}

static struct symbol *symbol_at(struct context *c, struct text *t)
{
	const char *name = t->at;
	unsigned hash = 0;
	for (; is_part_of_name(*t->at); t->at++)
		hash = hash * 31 + (unsigned char)*t->at;
	size_t length = (size_t)(t->at - name);
	struct symbol **bucket = &symbol_names[hash % 256], *s;
	for (s = *bucket; s != NULL; s = s->chained)
		if (s->length == length && memcmp(s->name, name, length) == 0)
			return s;
	if (length == 0 || symbol_count == MOST_SYMBOLS) {
		failed_because(c, "equations", length == 0 ? "a name is missing" : "more than %d names", MOST_SYMBOLS);
		return NULL;
	}
	s = &symbols[symbol_count++];
	*s = (struct symbol){.chained = *bucket, .name = name, .length = length};
	return *bucket = s;
}

static struct tree *new_tree(struct context *c, struct tree is)
{
	if (tree_count == MOST_TREES) {
		failed_because(c, "equations", "more than %d operators and operands", MOST_TREES);
		return NULL;
	}
	trees[tree_count] = is;
	return &trees[tree_count++];
}

static char next_sign(struct text *t)
{
	while (*t->at == ' ')
		t->at++;
	return *t->at;
}

static const struct tree *binary(struct context *c, struct text *t, const char *operators);

/* A name, something inverted, or an expression in parentheses. NULL where there is none. */
static const struct tree *operand(struct context *c, struct text *t)
{
	const struct tree *found = NULL;
	char sign = next_sign(t);
	if (++depth > DEEPEST) {
		failed_because(c, "equations", "more than %d parentheses", DEEPEST);
	} else if (sign == '!') {
		t->at++;
		const struct tree *of = operand(c, t);
		found = of != NULL ? new_tree(c, (struct tree){'!', NULL, of, NULL}) : NULL;
	} else if (sign == '(') {
		t->at++;
		found = binary(c, t, "|^&");
		if (next_sign(t) == ')')
			t->at++;
		else
			failed_because(c, "equations", "a parenthesis that is not closed");
	} else {
		struct symbol *s = symbol_at(c, t);
		found = s != NULL ? new_tree(c, (struct tree){'=', s, NULL, NULL}) : NULL;
	}
	depth--;
	return found;
}

/* Operands between the first of the operators, which binds least; the others are in the operands. */
static const struct tree *binary(struct context *c, struct text *t, const char *operators)
{
	if (*operators == '\0')
		return operand(c, t);
	const struct tree *left = binary(c, t, operators + 1);
	while (left != NULL && next_sign(t) == *operators) {
		t->at++;
		const struct tree *right = binary(c, t, operators + 1);
		left = right != NULL ? new_tree(c, (struct tree){*operators, NULL, left, right}) : NULL;
	}
	return left;
}

static unsigned read_names(struct context *c, struct text *t, struct symbol **names)
{
	unsigned count = 0;
	while (next_sign(t) != '\n' && count < MOST_SYMBOLS && (names[count] = symbol_at(c, t)) != NULL)
		count++;
	return count;
}

static int read_formulas(struct context *c, struct text *t, struct formulas *f)
{
	memset(symbol_names, 0, sizeof symbol_names);
	symbol_count = tree_count = depth = 0;
	const char *word;
	next_word(t, &word);
	f->inputs = read_names(c, t, f->input);
	next_line(t);
	next_word(t, &word);
	f->outputs = read_names(c, t, f->output);
	for (f->defined = 0; next_line(t) && f->defined < MOST_SYMBOLS;) {
		struct symbol *s = symbol_at(c, t);
		if (s == NULL || next_sign(t) != '=')
			return 0;
		t->at++;
		if ((s->is = binary(c, t, "|^&")) == NULL || next_sign(t) != '\n')
			return 0;
		f->in_order[f->defined++] = s;
	}
	return f->inputs > 0 && f->inputs <= MOST_VARIABLES && f->outputs > 0 && f->outputs <= 32;
}

static unsigned char value_of(const struct tree *t)
{
	switch (t->operator) {
	case '=':
		return t->symbol->value;
	case '!':
		return !value_of(t->left);
	case '&':
		return value_of(t->left) && value_of(t->right);
	case '|':
		return value_of(t->left) || value_of(t->right);
	default:
		return value_of(t->left) != value_of(t->right);
	}
}

/* One row for each set of inputs, a bit each: the outputs, a bit each. */
static void make_table(const struct formulas *f, uint32_t *table)
{
	for (unsigned row = 0; row < 1u << f->inputs; row++) {
		for (unsigned i = 0; i < f->inputs; i++)
			f->input[i]->value = row >> i & 1;
		for (unsigned i = 0; i < f->defined; i++)
			f->in_order[i]->value = value_of(f->in_order[i]->is);
		table[row] = 0;
		for (unsigned i = 0; i < f->outputs; i++)
			table[row] |= (uint32_t)f->output[i]->value << i;
	}
}

#endif
