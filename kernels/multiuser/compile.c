/* multiuser/compile: a tree of C files, built by make -j.
 *
 * One operation is one full build, from sources to the linked program. The program checks its own result and exits with 0 only if it is
 * correct. Parameters: jobs=, cc= and make= (paths).
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../runtime/kernel.h"

enum { FILES = 32, FUNCTIONS = 24 };

extern char **environ;
static char jobs_flag[16], cc_flag[4200];
static const char *make;

/* The same function as in the generated sources. */
static unsigned function_value(unsigned file, unsigned function, unsigned x)
{
	for (unsigned i = 0; i < 8; i++)
		x = x * (2 * function + 3) + (file ^ i);
	return x;
}

static void write_source(struct context *c, unsigned f)
{
	char name[32];
	snprintf(name, sizeof name, "part_%u.c", f);
	FILE *file = fopen(name, "we");
	if (file == NULL) {
		failed(c, "fopen");
		return;
	}
	fputs("#include <stdint.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n", file);
	for (unsigned i = 0; i < FUNCTIONS; i++)
		fprintf(file, "static uint32_t f%u(uint32_t x)\n{\n\tfor (uint32_t i = 0; i < 8; i++)\n\t\tx = x * %uu + (%uu ^ i);\n\treturn x;\n}\n", i,
			2 * i + 3, f);
	fprintf(file, "uint32_t part_%u(uint32_t x)\n{\n", f);
	for (unsigned i = 0; i < FUNCTIONS; i++)
		fprintf(file, "\tx = f%u(x);\n", i);
	fputs("\treturn x;\n}\n", file);
	if (fclose(file) != 0)
		failed(c, "write");
}

/* Writes main.c, which contains the expected result, and the Makefile. */
static void write_main(struct context *c)
{
	unsigned x = 1;
	FILE *file = fopen("main.c", "we"), *rules = fopen("Makefile", "we");
	if (file == NULL || rules == NULL) {
		failed(c, "fopen");
		return;
	}
	fputs("#include <stdint.h>\n", file);
	for (unsigned f = 0; f < FILES; f++)
		fprintf(file, "uint32_t part_%u(uint32_t);\n", f);
	fputs("int main(void)\n{\n\tuint32_t x = 1;\n", file);
	fputs("all: program\nOBJECTS = main.o", rules);
	for (unsigned f = 0; f < FILES; f++) {
		for (unsigned i = 0; i < FUNCTIONS; i++)
			x = function_value(f, i, x);
		fprintf(file, "\tx = part_%u(x);\n", f);
		fprintf(rules, " part_%u.o", f);
	}
	fprintf(file, "\treturn x == %uu ? 0 : 1;\n}\n", x);
	fputs("\nprogram: $(OBJECTS)\n\t$(CC) -o $@ $(OBJECTS)\n.c.o:\n\t$(CC) -O1 -c $<\n", rules);
	if (fclose(file) != 0 || fclose(rules) != 0)
		failed(c, "write");
}

/* Returns the wait status, or -1. */
static int execute(char *const argv[])
{
	posix_spawn_file_actions_t quiet;
	pid_t pid;
	int status = -1;
	posix_spawn_file_actions_init(&quiet);
	posix_spawn_file_actions_addopen(&quiet, 1, "said", O_WRONLY | O_CREAT | O_TRUNC, 0600);
	posix_spawn_file_actions_adddup2(&quiet, 1, 2);
	if (posix_spawn(&pid, argv[0], &quiet, NULL, argv, environ) == 0)
		while (waitpid(pid, &status, 0) != pid && errno == EINTR)
			;
	posix_spawn_file_actions_destroy(&quiet);
	return status;
}

/* First line of the program's output. */
static const char *first_line(void)
{
	static char text[256];
	int file = open("said", O_RDONLY | O_CLOEXEC);
	ssize_t n = file < 0 ? -1 : read(file, text, sizeof text - 1);
	if (file >= 0)
		close(file);
	text[n > 0 ? n : 0] = '\0';
	text[strcspn(text, "\n")] = '\0';
	return text;
}

static void setup(struct context *c)
{
	uint64_t jobs = parameter_u64(c, "jobs", 1);
	make = parameter(c, "make", "/usr/bin/make");
	if (jobs < 1 || jobs > 4096)
		wrong_arguments(c, "jobs= is from 1 to 4096");
	snprintf(jobs_flag, sizeof jobs_flag, "-j%d", (int)jobs);
	snprintf(cc_flag, sizeof cc_flag, "CC=%s", parameter(c, "cc", "cc"));
	for (unsigned f = 0; f < FILES; f++)
		write_source(c, f);
	write_main(c);
}

/* Removes the results of the previous build. */
static void prepare(struct context *c, uint64_t n)
{
	(void)c;
	(void)n;
	unlink("program");
	unlink("main.o");
	for (unsigned f = 0; f < FILES; f++) {
		char name[32];
		snprintf(name, sizeof name, "part_%u.o", f);
		unlink(name);
	}
}

static void run(struct context *c, uint64_t n, uint64_t *check)
{
	char *const argv[] = {(char *)make, "-s", jobs_flag, cc_flag, NULL};
	(void)n;
	(void)check;
	int status = execute(argv);
	if (status != 0)
		failed_because(c, "make", "make exited with wait status %d; first line of its output: %s", status, first_line());
}

static void finish(struct context *c, uint64_t n, uint64_t *check)
{
	char *const argv[] = {"./program", NULL};
	int status = execute(argv);
	if (status != 0)
		failed_because(c, "program", "the built program is missing or computes a wrong result (wait status %d)", status);
	*check = n;
}

static uint64_t expect(struct context *c, uint64_t n)
{
	(void)c;
	return n;
}

const struct kernel kernel = {.name = "multiuser/compile",
			      .setup = setup,
			      .prepare = prepare,
			      .run = run,
			      .finish = finish,
			      .expect = expect,
			      .children = CHILDREN_ALONE,
			      .single = 1};
