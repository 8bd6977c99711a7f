/* multiuser/program-development: users who write a program, in Fortran if a compiler is installed (hp-1987, section 2, figure 2.1).
 *
 * A round: compile a program with three mistakes, correct two in the editor, compile, correct the last, compile and link, execute, ls, pwd,
 * date. A transaction is a command up to its prompt: nine per round. The final source must be correct, the first two compilations must
 * fail, and the program from the third checks its own sum.
 */
#define _GNU_SOURCE
#ifndef TYPING
#define TYPING 0
#define NAME "multiuser/program-development"
#endif
#include "c.h"
#include "editor.h"
#include "fortran.h"

/* Step numbers of the second and third compilation. */
enum { AFTER_FIRST = 5, AFTER_SECOND = 9 };

struct language {
	void (*make)(struct source *, int first_mistake);
	const char *file, *pattern, *type_name, *libraries;
	const char *const *corrected; /* lines after correction */
};
static const struct language fortran = {make_fortran, "program.f90", "prog*.f90", DOUBLE, "", fortran_corrected};
static const struct language c_language = {make_c, "program.c", "prog*.c", "double", " -lm", c_corrected};

static const struct language *language;
static struct source source[MISTAKES + 1]; /* by first remaining mistake */

/* Writes the version of the source that the user's first step expects. */
static void prepare_files(struct context *c, const struct user *u)
{
	int first = u->step < AFTER_FIRST ? 0 : u->step < AFTER_SECOND ? 2 : MISTAKES;
	unlink(user_path(u, "program"));
	write_file(c, u, language->file, source[first].text, source[first].bytes);
}

static int files_are_correct(const struct user *u)
{
	return file_equals(u, language->file, source[MISTAKES].text, source[MISTAKES].bytes);
}

/* Adds the steps that correct mistakes [from, to) and leave the editor. Returns the last of them. */
static struct step *correct(struct step *step, int from, int to)
{
	for (int m = from; m < to; m++, step++) {
		*step = (struct step){.cell = {{CURSOR_LINE, language->corrected[m]}}, .depends_on_earlier = 1};
		snprintf(step->keys, KEYS, "/%s\rcw%s\033", mistakes[m], language->type_name);
	}
	*step = (struct step){.what = "vi", .keys = ":wq\r", .depends_on_earlier = 1};
	return step;
}

static void make_script(struct context *c)
{
	static const char *const others[] = {"./program\r", "ls\r", "pwd\r", "date\r"};
	static const char *const kinds[] = {"run", "ls", "pwd", "date"};
	const char *editor = editor_command(c), *compiler = parameter(c, "fortran", "gfortran");
	struct step *step = script.step;
	const char *name = strrchr(compiler, '/');
	note(c, "compiler", "%s", compiler);
	language = strstr(name == NULL ? compiler : name, "fortran") != NULL ? &fortran : &c_language;
	if (language != &fortran)
		note(c, "stand_in", "The users write C: there is no compiler for Fortran here (apt-get install gfortran).");
	for (int edition = 0; edition < 3; edition++, step++) {
		snprintf(step->keys, KEYS, "%s -o program %s%s\r", compiler, language->file, language->libraries);
		step->what = "compile";
		step->expect_failure = edition < 2;
		if (edition == 2)
			continue;
		step++;
		*step = (struct step){.cell = {{LAST_LINE, language->file}}};
		/* a pattern, so that the full name on the screen comes from the editor and not from the echo */
		snprintf(step->keys, KEYS, "%s %s\r", editor, language->pattern);
		step = correct(step + 1, edition == 0 ? 0 : 2, edition == 0 ? 2 : MISTAKES);
	}
	for (int i = 0; i < 4; i++, step++) {
		snprintf(step->keys, KEYS, "%s", others[i]);
		step->what = kinds[i];
		step->depends_on_earlier = i == 0;
	}
	script.steps = (int)(step - script.step);
	for (int first = 0; first <= MISTAKES; first++)
		language->make(&source[first], first);
	script.prepare_files = prepare_files;
	script.files_are_correct = files_are_correct;
	/* without think time all may compile at once */
	script.memory_kb = (TYPING ? 6 : 48) << 10;
	script.disk_kb = 512;
}

const struct kernel kernel = {.name = NAME,
			      .setup = setup,
			      .run = run,
			      .expect = expect,
			      .teardown = teardown,
			      .children = CHILDREN_TOO,
			      .single = TYPING};
