/* Parser of simulator output: tables of voltages over time, in the format of ngspice (blocks of `Index time v(a) ...`) or gnucap (`#Time
 * v(a) ...`, numbers with SI suffixes).
 */
#ifndef GRITSTONE_APP_TABLE_H
#define GRITSTONE_APP_TABLE_H

#include <stdlib.h>
#include <string.h>

enum { SIGNALS = 12, ROWS = 8192 };

struct table {
	int signals;
	struct signal {
		char name[16];
		int rows;
		double value[ROWS];
	} signal[SIGNALS];
};

static inline double parse_number(const char *word)
{
	static const char suffix[] = "fpnumkM";
	static const double factor[] = {1e-15, 1e-12, 1e-9, 1e-6, 1e-3, 1e3, 1e6};
	char *end;
	double x = strtod(word, &end);
	const char *found = *end == '\0' ? NULL : strchr(suffix, *end);
	return found == NULL ? x : x * factor[found - suffix];
}

/* Returns -1 if the table is full. */
static inline int find_or_add_signal(struct table *t, const char *name)
{
	int i = 0;
	while (i < t->signals && strcmp(t->signal[i].name, name) != 0)
		i++;
	if (i == SIGNALS)
		return -1;
	if (i == t->signals) {
		strncpy(t->signal[i].name, name, sizeof t->signal[i].name - 1);
		t->signals++;
	}
	return i;
}

/* Reads all tables; modifies the text. Rows that do not belong to the next time step are ignored, which shows in the number of rows. */
static inline void read_tables(struct table *t, char *text, double step)
{
	int column[SIGNALS], columns = 0, leading = 0;
	char *rest = NULL, *within = NULL;
	memset(t, 0, sizeof *t);
	for (char *line = strtok_r(text, "\n", &rest); line != NULL; line = strtok_r(NULL, "\n", &rest)) {
		char *word = strtok_r(line, " \t", &within);
		if (word == NULL)
			continue;
		if (strcmp(word, "Index") == 0 || strcmp(word, "#Time") == 0) {
			leading = *word == 'I';
			if (leading)
				strtok_r(NULL, " \t", &within); /* `time` */
			for (columns = 0; columns < SIGNALS && (word = strtok_r(NULL, " \t", &within)) != NULL; columns++)
				column[columns] = find_or_add_signal(t, word);
			continue;
		}
		if (strchr("0123456789.-", *word) == NULL || columns == 0)
			continue;
		if (leading)
			word = strtok_r(NULL, " \t", &within);
		double time = word == NULL ? -1 : parse_number(word);
		for (int i = 0; i < columns && (word = strtok_r(NULL, " \t", &within)) != NULL; i++) {
			struct signal *s = column[i] < 0 ? NULL : &t->signal[column[i]];
			if (s != NULL && s->rows < ROWS && time > (s->rows - 0.1) * step && time < (s->rows + 0.1) * step)
				s->value[s->rows++] = parse_number(word);
		}
	}
}

/* The values of a signal with exactly `rows` rows, else NULL. */
static inline const double *find_signal(const struct table *t, const char *name, int rows)
{
	for (int i = 0; i < t->signals; i++)
		if (strcmp(t->signal[i].name, name) == 0)
			return t->signal[i].rows == rows ? t->signal[i].value : NULL;
	return NULL;
}

#endif
