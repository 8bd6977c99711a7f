/* Parser of app/plagen: expression trees, and the truth table. */
#ifndef GRITSTONE_APP_FORMULA_H
#define GRITSTONE_APP_FORMULA_H

#include "program.h"

enum { MAX_SYMBOLS = 512, MAX_TREES = 8192, MAX_VARIABLES = 12, MAX_DEPTH = 64 };

struct symbol {
	struct symbol *next_in_bucket; /* hash chain */
	const char *name;
	size_t length;
	const struct tree *definition; /* NULL: an input */
	unsigned char value;
};

struct tree {
	char operator; /* ! & ^ |, or = for the value of a symbol */
	struct symbol *symbol;
	const struct tree *left, *right;
};

/* Contents of a file. */
struct formulas {
	unsigned inputs, outputs, defined;
	struct symbol *input[MAX_SYMBOLS], *output[MAX_SYMBOLS], *in_order[MAX_SYMBOLS];
};

static struct symbol symbols[MAX_SYMBOLS], *symbol_names[256];
static struct tree trees[MAX_TREES];
static unsigned symbol_count, tree_count, depth;

static int is_name_character(char letter)
{
	return (letter >= 'a' && letter <= 'z') || (letter >= '0' && letter <= '9');
}

static struct symbol *parse_symbol(struct context *c, struct text *t)
{
	const char *name = t->cursor;
	unsigned hash = 0;
	for (; is_name_character(*t->cursor); t->cursor++)
		hash = hash * 31 + (unsigned char)*t->cursor;
	size_t length = (size_t)(t->cursor - name);
	struct symbol **bucket = &symbol_names[hash % 256], *s;
	for (s = *bucket; s != NULL; s = s->next_in_bucket)
		if (s->length == length && memcmp(s->name, name, length) == 0)
			return s;
	if (length == 0 || symbol_count == MAX_SYMBOLS) {
		failed_because(c, "equations", length == 0 ? "a name is missing" : "more than %d names", MAX_SYMBOLS);
		return NULL;
	}
	s = &symbols[symbol_count++];
	*s = (struct symbol){.next_in_bucket = *bucket, .name = name, .length = length};
	return *bucket = s;
}

static struct tree *new_tree(struct context *c, struct tree definition)
{
	if (tree_count == MAX_TREES) {
		failed_because(c, "equations", "more than %d operators and operands", MAX_TREES);
		return NULL;
	}
	trees[tree_count] = definition;
	return &trees[tree_count++];
}

static char next_character(struct text *t)
{
	while (*t->cursor == ' ')
		t->cursor++;
	return *t->cursor;
}

static const struct tree *parse_binary(struct context *c, struct text *t, const char *operators);

/* A name, an inverted operand, or a parenthesized expression. Returns NULL on failure. */
static const struct tree *parse_operand(struct context *c, struct text *t)
{
	const struct tree *found = NULL;
	char sign = next_character(t);
	if (++depth > MAX_DEPTH) {
		failed_because(c, "equations", "more than %d parentheses", MAX_DEPTH);
	} else if (sign == '!') {
		t->cursor++;
		const struct tree *of = parse_operand(c, t);
		found = of != NULL ? new_tree(c, (struct tree){'!', NULL, of, NULL}) : NULL;
	} else if (sign == '(') {
		t->cursor++;
		found = parse_binary(c, t, "|^&");
		if (next_character(t) == ')')
			t->cursor++;
		else
			failed_because(c, "equations", "an unclosed parenthesis");
	} else {
		struct symbol *s = parse_symbol(c, t);
		found = s != NULL ? new_tree(c, (struct tree){'=', s, NULL, NULL}) : NULL;
	}
	depth--;
	return found;
}

/* `operators` in increasing precedence: parses operands of the first, which contain the others. */
static const struct tree *parse_binary(struct context *c, struct text *t, const char *operators)
{
	if (*operators == '\0')
		return parse_operand(c, t);
	const struct tree *left = parse_binary(c, t, operators + 1);
	while (left != NULL && next_character(t) == *operators) {
		t->cursor++;
		const struct tree *right = parse_binary(c, t, operators + 1);
		left = right != NULL ? new_tree(c, (struct tree){*operators, NULL, left, right}) : NULL;
	}
	return left;
}

static unsigned read_names(struct context *c, struct text *t, struct symbol **names)
{
	unsigned count = 0;
	while (next_character(t) != '\n' && count < MAX_SYMBOLS && (names[count] = parse_symbol(c, t)) != NULL)
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
	for (f->defined = 0; next_line(t) && f->defined < MAX_SYMBOLS;) {
		struct symbol *s = parse_symbol(c, t);
		if (s == NULL || next_character(t) != '=')
			return 0;
		t->cursor++;
		if ((s->definition = parse_binary(c, t, "|^&")) == NULL || next_character(t) != '\n')
			return 0;
		f->in_order[f->defined++] = s;
	}
	return f->inputs > 0 && f->inputs <= MAX_VARIABLES && f->outputs > 0 && f->outputs <= 32;
}

static unsigned char evaluate_tree(const struct tree *t)
{
	switch (t->operator) {
	case '=':
		return t->symbol->value;
	case '!':
		return !evaluate_tree(t->left);
	case '&':
		return evaluate_tree(t->left) && evaluate_tree(t->right);
	case '|':
		return evaluate_tree(t->left) || evaluate_tree(t->right);
	default:
		return evaluate_tree(t->left) != evaluate_tree(t->right);
	}
}

/* table[inputs] = outputs, both as bit sets. */
static void make_table(const struct formulas *f, uint32_t *table)
{
	for (unsigned row = 0; row < 1u << f->inputs; row++) {
		for (unsigned i = 0; i < f->inputs; i++)
			f->input[i]->value = row >> i & 1;
		for (unsigned i = 0; i < f->defined; i++)
			f->in_order[i]->value = evaluate_tree(f->in_order[i]->definition);
		table[row] = 0;
		for (unsigned i = 0; i < f->outputs; i++)
			table[row] |= (uint32_t)f->output[i]->value << i;
	}
}

#endif
