/* app/plagen: generation of a programmable logic array from Boolean equations (hp-1987, section 2, table 2.2).
 *
 * One operation is one run of the program, over two files: read the equations (formula.h), construct their truth table, minimize it
 * (minimize.h), write the array. The equations are random: equations.h, and seed=. The check value has in its low half the number of table
 * rows for which the written array agrees with the reference evaluation of the equations, and in its high half the number of terms; terms=
 * is the correct number for the seed.
 */
#include "equations.h"
#include "formula.h"
#include "minimize.h"

enum { MAX_N = 4, FILES = 2 };

static const struct {
	const char *name;
	unsigned inputs, outputs, lines;
} files[FILES] = {{"small.eqn", 11, 12, 70}, {"large.eqn", 12, 16, 145}};

static struct text text, results;
static struct equations equations[FILES];
static struct formulas formulas;
static uint64_t seed, terms;

/* Espresso format: a line per term, inputs 0, 1 or -, outputs 0 or 1. */
static void write_array(struct context *c)
{
	char line[MAX_VARIABLES + MAX_OUTPUTS + 3];
	append_text(c, &results, ".i %u\n.o %u\n.p %u\n", formulas.inputs, formulas.outputs, selected_count);
	for (unsigned i = 0; i < selected_count; i++) {
		char *end = line;
		for (unsigned j = 0; j < formulas.inputs; j++)
			*end++ = selected[i]->free >> j & 1 ? '-' : selected[i]->value >> j & 1 ? '1' : '0';
		*end++ = ' ';
		for (unsigned j = 0; j < formulas.outputs; j++)
			*end++ = selected[i]->outputs >> j & 1 ? '1' : '0';
		*end = '\0';
		append_text(c, &results, "%s\n", line);
	}
	append_text(c, &results, ".e\n");
}

static void setup(struct context *c)
{
	seed = parameter_u64(c, "seed", 1987);
	terms = parameter_u64(c, "terms", 638);
	for (unsigned i = 0; i < FILES; i++)
		draw_equations(&equations[i], files[i].inputs, files[i].outputs, files[i].lines, seed + i);
}

static void prepare(struct context *c, uint64_t n)
{
	(void)n;
	static int files_written;
	results.length = 0;
	write_text(c, &results, "plagen.out", O_CREAT | O_TRUNC);
	for (unsigned i = 0; i < FILES && !files_written; i++) {
		write_equations(c, &text, &equations[i]);
		write_text(c, &text, files[i].name, O_CREAT | O_TRUNC);
	}
	files_written = 1;
}

static void run(struct context *c, uint64_t n, uint64_t *check)
{
	(void)check;
	for (uint64_t i = 0; i < n; i++) {
		results.length = 0;
		for (unsigned f = 0; f < FILES; f++) {
			if (!read_text(c, &text, files[f].name))
				return;
			if (!read_formulas(c, &text, &formulas) || formulas.outputs > MAX_OUTPUTS) {
				failed_because(c, "equations", "%s cannot be read", files[f].name);
				return;
			}
			make_table(&formulas, table);
			merge(formulas.inputs);
			cover(formulas.inputs);
			write_array(c);
		}
		if (!write_text(c, &results, "plagen.out", O_APPEND))
			return;
	}
}

/* Reads the next written array: the outputs of each row. Returns the number of terms. */
static uint64_t read_array(const struct equations *e, uint32_t *array)
{
	const char *in, *out;
	uint64_t found = 0;
	memset(array, 0, sizeof(*array) << e->inputs);
	for (size_t length; (length = next_word(&results, &in)) > 0; next_line(&results)) {
		if (*in == '.' && in[1] == 'e')
			break;
		if (*in == '.')
			continue;
		if (length != e->inputs || next_word(&results, &out) != e->outputs)
			break;
		found++;
		for (unsigned row = 0; row < 1u << e->inputs; row++) {
			unsigned fits = 1;
			for (unsigned i = 0; i < e->inputs; i++)
				fits &= in[i] == '-' || in[i] == (char)('0' + (row >> i & 1));
			for (unsigned i = 0; i < e->outputs; i++)
				array[row] |= (uint32_t)(fits && out[i] == '1') << i;
		}
	}
	next_line(&results);
	return found;
}

static void finish(struct context *c, uint64_t n, uint64_t *check)
{
	static uint32_t array[ROWS];
	*check = 0;
	if (!read_text(c, &results, "plagen.out"))
		return;
	for (uint64_t i = 0; i < n * FILES; i++) {
		const struct equations *e = &equations[i % FILES];
		*check += read_array(e, array) << 32;
		for (unsigned row = 0; row < 1u << e->inputs; row++)
			*check += array[row] == evaluate(e, row);
	}
}

static uint64_t expect(struct context *c, uint64_t n)
{
	uint64_t rows = 0;
	(void)c;
	for (unsigned i = 0; i < FILES; i++)
		rows += (uint64_t)1 << files[i].inputs;
	return n * (terms << 32 | rows);
}

const struct kernel kernel = {
	.name = "app/plagen",
	.setup = setup,
	.prepare = prepare,
	.run = run,
	.finish = finish,
	.expect = expect,
	.max_n = MAX_N,
	.files = 1,
};
