/* Source generator for program development: a program of 930 lines and 20,000 bytes with three mistakes, consisting of the modules of the
 * Whetstone benchmark in double precision, as in hp-1987, section 2. It exits with 0 if its sum equals the one computed here. Fortran
 * (fortran.h), or C on systems without a Fortran compiler (c.h).
 */
#ifndef GRITSTONE_MULTIUSER_SOURCE_H
#define GRITSTONE_MULTIUSER_SOURCE_H

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { KINDS = 6, COPIES = 5, ITERATIONS = 2000, SOURCE_LINES = 930, SOURCE_BYTES = 20000 };

/* Undefined type names: the first compilation reports all three, the second the last. */
static const char *const mistakes[] = {"wrong_a", "wrong_b", "wrong_c"};
enum { MISTAKES = sizeof mistakes / sizeof *mistakes };

struct source {
	char text[SOURCE_BYTES + 4096];
	size_t bytes;
	int lines;
};

__attribute__((format(printf, 2, 3))) static void append(struct source *s, const char *format, ...)
{
	va_list rest;
	va_start(rest, format);
	int more = vsnprintf(s->text + s->bytes, sizeof s->text - s->bytes, format, rest);
	va_end(rest);
	for (int i = 0; i < more; i++)
		s->lines += s->text[s->bytes + (size_t)i] == '\n';
	s->bytes += (size_t)more;
}

static double module_value(int kind, double t)
{
	double x[4] = {1, -1, -1, -1}, e[4] = {0}, a = kind == 5 ? 0.75 : 0.5, b = 0.5, r = 0;
	int j = 1, k = 2, l = 3;
	for (int i = 0; i < ITERATIONS; i++) {
		if (kind < 2) {
			x[0] = (x[0] + x[1] + x[2] - x[3]) * t;
			x[1] = (x[0] + x[1] - x[2] + x[3]) * t;
			x[2] = (x[0] - x[1] + x[2] + x[3]) * t;
			x[3] = (x[1] - x[0] + x[2] + x[3]) * t;
		} else if (kind == 2) {
			j = j == 1 ? 2 : 3;
			j = j > 2 ? 0 : 1;
			j = j < 1;
			r += j;
		} else if (kind == 3) {
			j = j * (k - j) * (l - k);
			k = l * k - (l - j) * k;
			l = (l - k) * (k + j);
			e[l - 1] = j + k + l;
			e[k - 1] = j * k * l;
		} else if (kind == 4) {
			a = t * atan(2 * sin(a) * cos(a) / (cos(a + b) + cos(a - b) - 1));
			b = t * atan(2 * sin(b) * cos(b) / (cos(a + b) + cos(a - b) - 1));
		} else {
			a = sqrt(exp(log(a) / 0.50025));
		}
	}
	return kind < 2 ? x[3] : kind == 2 ? r : kind == 3 ? e[1] + e[2] : kind == 4 ? a + b : a;
}

static double expected_sum(void)
{
	double sum = 0;
	for (int m = 0; m < KINDS * COPIES; m++)
		sum += module_value(m % KINDS, 0.49 + (m / KINDS) * 0.001);
	return sum;
}

/* The mistake in a module, in the version with the mistakes from `first` on; MISTAKES: none. */
static int mistake_in(int module, int first)
{
	int mistake = module % 10 == 5 ? module / 10 : MISTAKES;
	return mistake >= first ? mistake : MISTAKES;
}

/* Pads to the given lines and bytes by comments that are identical in all versions, independent of the lengths of mistakes. */
static void pad_with_comments(struct source *s, const char *comment, const char *type_name, int first)
{
	int left = SOURCE_LINES - s->lines, growth = 0, available = SOURCE_BYTES - (int)s->bytes;
	for (int m = first; m < MISTAKES; m++)
		growth += (int)strlen(type_name) - (int)strlen(mistakes[m]);
	available -= growth;
	for (int i = 0; i < left && available > left * ((int)strlen(comment) + 1); i++) {
		int length = available / left + (i < available % left);
		append(s, "%s%*s\n", comment, length - 1 - (int)strlen(comment), "");
	}
}

#endif
