/* What the users of `users` develop: a C program of 929 lines with three mistakes in it, and the keystrokes that mend them.
 *
 * hp-1987, section 2, used a FORTRAN program of 930 lines and 20,000 bytes, derived from Whetstone B1D. This one is of C, since
 * a compiler for that is what machines have; its functions are arithmetic of whole numbers, so that its result is known.
 */
#ifndef GRITSTONE_LOAD_DEVELOPMENT_H
#define GRITSTONE_LOAD_DEVELOPMENT_H

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FUNCTIONS 60
#define ROUNDS 2000
#define SOURCE_BYTES 32768

/* Where a type should stand: one compilation finds all three, the next the last of them. */
static const char *const mistakes[] = {"wrong_a", "wrong_b", "wrong_c"};

/* What function number `f` of the program computes. */
static long long computed(long long f)
{
	long long a = f, b = 1, c = 2, d = 3;
	for (long long i = 0; i < ROUNDS; i++) {
		a = (a + b + c - d + i) * 3 % 10007;
		b = (a + b - c + d + i) * 5 % 10009;
		c = (a - b + c + d + i) * 7 % 10037;
		d = (b - a + c + d + i) * 11 % 10039;
	}
	return a + b + c + d;
}

__attribute__((format(printf, 2, 3))) static void add(char *text, const char *format, ...)
{
	size_t length = strlen(text);
	va_list rest;
	va_start(rest, format);
	vsnprintf(text + length, SOURCE_BYTES - length, format, rest);
	va_end(rest);
}

/* The text of the program, with its mistakes. It ends with status 0 if what it computes is right. */
static char *source_text(void)
{
	char *text = calloc(1, SOURCE_BYTES);
	long long sum = 0;
	if (text == NULL)
		return NULL;
	add(text, "/* A program that grows slowly:\n * %d functions.\n */\n", FUNCTIONS);
	for (int f = 0; f < FUNCTIONS; f++) {
		const char *type = f % 20 == 10 ? mistakes[f / 20] : "long long";
		sum += computed(f);
		add(text, "/* Function %d of %d: four sequences, each made of all four. */\n", f, FUNCTIONS);
		add(text, "static long long function_%d(void)\n{\n\t%s a = %d, b = 1, c = 2, d = 3;\n", f, type, f);
		add(text, "\tlong long i;\n\n\tfor (i = 0; i < %d; i++) {\n", ROUNDS);
		add(text, "\t\ta = (a + b + c - d + i) * 3 %% 10007;\n\t\tb = (a + b - c + d + i) * 5 %% 10009;\n");
		add(text, "\t\tc = (a - b + c + d + i) * 7 %% 10037;\n\t\td = (b - a + c + d + i) * 11 %% 10039;\n");
		add(text, "\t}\n\treturn a + b + c + d;\n}\n\n");
	}
	add(text, "int main(void)\n{\n\tlong long sum = 0;\n\n");
	for (int f = 0; f < FUNCTIONS; f += 3)
		add(text, "\tsum += function_%d() + function_%d() + function_%d();\n", f, f + 1, f + 2);
	add(text, "\treturn sum == %lldLL ? 0 : 1;\n}\n", sum);
	return text;
}

/* One thing that a user types, and what it is to bring about. */
struct step {
	char keys[256];
	/* What appears when the system is ready for more; NULL: a prompt, which ends a transaction. */
	const char *until;
	/* Whether the command is to fail. */
	int fails;
};

enum { STEPS = 12 };

/* How an editor corrects a mistake, saves, and ends: keys of vi where it has a screen, lines of ed and ex elsewhere. */
struct editor {
	const char *mends, *ends;
	/* Whether what is typed before the text is shown would be lost. */
	int shows;
};

static struct editor editor_called(const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash == NULL ? path : slash + 1;
	int line = strcmp(name, "ed") == 0;
	if (line || strncmp(name, "ex", 2) == 0)
		return (struct editor){"/%s/s//long long/\r", "w\rq\r", !line};
	return (struct editor){"/%s\rcwlong long\033", ":wq\r", 1};
}

/* Writes the steps of one round of development; how many there are. The editor is given a pattern, so that the name of the
 * file on the screen is the editor's and no echo. */
static int script(struct step steps[STEPS], const char *compiler, const char *path)
{
	struct editor editor = editor_called(path);
	static const char *const others[] = {"./program\r", "ls\r", "pwd\r", "date\r"};
	int n = 0;
	for (int edition = 0; edition < 3; edition++) {
		snprintf(steps[n].keys, sizeof steps->keys, "%s -o program program.c\r", compiler);
		steps[n++].fails = edition < 2;
		if (edition == 2)
			break;
		snprintf(steps[n].keys, sizeof steps->keys, "%s p*.c\r", path);
		if (editor.shows)
			steps[n++].until = "program.c";
		for (int m = edition == 0 ? 0 : 2; m < (edition == 0 ? 2 : 3); m++) {
			size_t length = strlen(steps[n].keys);
			char keys[64];
			snprintf(keys, sizeof keys, editor.mends, mistakes[m]);
			snprintf(steps[n].keys + length, sizeof steps->keys - length, "%s", keys);
		}
		strncat(steps[n].keys, editor.ends, sizeof steps->keys - strlen(steps[n].keys) - 1);
		n++;
	}
	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		snprintf(steps[n++].keys, sizeof steps->keys, "%s", others[i]);
	return n;
}

#endif
