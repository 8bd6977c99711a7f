/* What a circuit simulator prints: tables of voltages over time, in the form of ngspice (blocks of `Index time v(a) ...`) or of gnucap
 * (`#Time v(a) ...`, numbers with the suffixes of engineers).
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
		double at[ROWS];
	} signal[SIGNALS];
};

static inline double number(const char *word)
{
	static const char suffix[] = "fpnumkM";
	static const double factor[] = {1e-15, 1e-12, 1e-9, 1e-6, 1e-3, 1e3, 1e6};
	char *end;
	double x = strtod(word, &end);
	const char *found = *end == '\0' ? NULL : strchr(suffix, *end);
	return found == NULL ? x : x * factor[found - suffix];
}

/* The place of a signal, which is added; -1 where there is no more room. */
static inline int place_of(struct table *t, const char *name)
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

/* Reads all tables in a text, which is cut into words. A row that is not of the next time is left out, so that its number is missed. */
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
				column[columns] = place_of(t, word);
			continue;
		}
		if (strchr("0123456789.-", *word) == NULL || columns == 0)
			continue;
		if (leading)
			word = strtok_r(NULL, " \t", &within);
		double time = word == NULL ? -1 : number(word);
		for (int i = 0; i < columns && (word = strtok_r(NULL, " \t", &within)) != NULL; i++) {
			struct signal *s = column[i] < 0 ? NULL : &t->signal[column[i]];
			if (s != NULL && s->rows < ROWS && time > (s->rows - 0.1) * step && time < (s->rows + 0.1) * step)
				s->at[s->rows++] = number(word);
		}
	}
}

/* A signal by its name, with so many rows; NULL otherwise. */
static inline const double *signal_of(const struct table *t, const char *name, int rows)
{
	for (int i = 0; i < t->signals; i++)
		if (strcmp(t->signal[i].name, name) == 0)
			return t->signal[i].rows == rows ? t->signal[i].at : NULL;
	return NULL;
}

#endif
