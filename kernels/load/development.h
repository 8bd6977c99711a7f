/* Script of load/users: a C program of 929 lines with three mistakes, and the keystrokes that correct them.
 *
 * hp-1987, section 2, used a FORTRAN program of 930 lines and 20,000 bytes, derived from Whetstone B1D. This one is in C, for which every
 * machine has a compiler; it uses integer arithmetic, so that its result is known exactly.
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

/* Undefined type names: the first compilation reports all three, the second the last. */
static const char *const mistakes[] = {"wrong_a", "wrong_b", "wrong_c"};

/* Result of function `f` of the program. */
static long long function_value(long long f)
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

__attribute__((format(printf, 2, 3))) static void append(char *text, const char *format, ...)
{
	size_t length = strlen(text);
	va_list rest;
	va_start(rest, format);
	vsnprintf(text + length, SOURCE_BYTES - length, format, rest);
	va_end(rest);
}

/* The program with its mistakes. It exits with 0 if its result is correct. */
static char *source_text(void)
{
	char *text = calloc(1, SOURCE_BYTES);
	long long sum = 0;
	if (text == NULL)
		return NULL;
	append(text, "/* A program that grows slowly:\n * %d functions.\n */\n", FUNCTIONS);
	for (int f = 0; f < FUNCTIONS; f++) {
		const char *type = f % 20 == 10 ? mistakes[f / 20] : "long long";
		sum += function_value(f);
		append(text, "/* Function %d of %d: four sequences, each made of all four. */\n", f, FUNCTIONS);
		append(text, "static long long function_%d(void)\n{\n\t%s a = %d, b = 1, c = 2, d = 3;\n", f, type, f);
		append(text, "\tlong long i;\n\n\tfor (i = 0; i < %d; i++) {\n", ROUNDS);
		append(text, "\t\ta = (a + b + c - d + i) * 3 %% 10007;\n\t\tb = (a + b - c + d + i) * 5 %% 10009;\n");
		append(text, "\t\tc = (a - b + c + d + i) * 7 %% 10037;\n\t\td = (b - a + c + d + i) * 11 %% 10039;\n");
		append(text, "\t}\n\treturn a + b + c + d;\n}\n\n");
	}
	append(text, "int main(void)\n{\n\tlong long sum = 0;\n\n");
	for (int f = 0; f < FUNCTIONS; f += 3)
		append(text, "\tsum += function_%d() + function_%d() + function_%d();\n", f, f + 1, f + 2);
	append(text, "\treturn sum == %lldLL ? 0 : 1;\n}\n", sum);
	return text;
}

/* Keys to type, and the expected effect. */
struct step {
	char keys[256];
	/* Output that completes the step; NULL: a prompt, which completes a transaction. */
	const char *awaited_text;
	int expect_failure;
};

enum { STEPS = 12 };

/* Keystrokes to correct a mistake, and to save and quit: for vi, or the line editors ed and ex. */
struct editor {
	const char *correct, *quit;
	/* The editor discards keys typed before the text is displayed. */
	int full_screen;
};

static struct editor editor_for(const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash == NULL ? path : slash + 1;
	int line = strcmp(name, "ed") == 0;
	if (line || strncmp(name, "ex", 2) == 0)
		return (struct editor){"/%s/s//long long/\r", "w\rq\r", !line};
	return (struct editor){"/%s\rcwlong long\033", ":wq\r", 1};
}

/* Generates the steps of one round. Returns their number. The editor gets a file pattern, so that the full name on the screen comes from
 * the editor and not from the echo. */
static int write_script(struct step steps[STEPS], const char *compiler, const char *path)
{
	struct editor editor = editor_for(path);
	static const char *const others[] = {"./program\r", "ls\r", "pwd\r", "date\r"};
	int n = 0;
	for (int edition = 0; edition < 3; edition++) {
		snprintf(steps[n].keys, sizeof steps->keys, "%s -o program program.c\r", compiler);
		steps[n++].expect_failure = edition < 2;
		if (edition == 2)
			break;
		snprintf(steps[n].keys, sizeof steps->keys, "%s p*.c\r", path);
		if (editor.full_screen)
			steps[n++].awaited_text = "program.c";
		for (int m = edition == 0 ? 0 : 2; m < (edition == 0 ? 2 : 3); m++) {
			size_t length = strlen(steps[n].keys);
			char keys[64];
			snprintf(keys, sizeof keys, editor.correct, mistakes[m]);
			snprintf(steps[n].keys + length, sizeof steps->keys - length, "%s", keys);
		}
		strncat(steps[n].keys, editor.quit, sizeof steps->keys - strlen(steps[n].keys) - 1);
		n++;
	}
	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		snprintf(steps[n++].keys, sizeof steps->keys, "%s", others[i]);
	return n;
}

#endif
