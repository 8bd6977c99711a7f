/* multiuser/editing: users who edit a large file in a full-screen editor (hp-1987, section 2, figure 2.2).
 *
 * A round: list the file; start vi on an empty buffer, type a line, read the file after it, append a line, delete five lines, move around,
 * write, quit. Each command with a visible effect is a transaction, and so are the two prompts: nine per round. The file has 100,000 bytes.
 */
#define _GNU_SOURCE
#ifndef TYPING
#define TYPING 0
#define NAME "multiuser/editing"
#endif
#include "editor.h"

enum { LINES = 2000, LINE = 50, BYTES = LINES * LINE, FIRST_GONE = 2, LAST_GONE = 6 };

static char text[BYTES], expected_text[BYTES + 2 * LINE];
static size_t expected_bytes;
static const char first[] = "the first line", added[] = "added by a user at a terminal";

static void prepare_files(struct context *c, const struct user *u)
{
	unlink(user_path(u, "edited.txt"));
	if (u->rounds == 0)
		write_file(c, u, "large.txt", text, sizeof text);
}

static int files_are_correct(const struct user *u)
{
	return file_equals(u, "edited.txt", expected_text, expected_bytes);
}

/* The file before and after a round. Since editors disagree on whether an empty buffer has a line, the script types a first line. */
static void make_texts(void)
{
	for (int i = 0; i < LINES; i++) {
		char line[LINE + 1];
		snprintf(line, sizeof line, "line %05d of a file that is read in and changed.\n", i + 1);
		memcpy(text + i * LINE, line, LINE);
	}
	expected_bytes = (size_t)snprintf(expected_text, LINE, "%s\n", first);
	for (int i = 1; i <= LINES; i++)
		if (i < FIRST_GONE || i > LAST_GONE) {
			memcpy(expected_text + expected_bytes, text + (i - 1) * LINE, LINE);
			expected_bytes += LINE;
		}
	expected_bytes += (size_t)snprintf(expected_text + expected_bytes, LINE, "%s\n", added);
}

static void make_script(struct context *c)
{
	const char *editor = editor_command(c);
	const struct step steps[] = {
		{.what = "prompt", .keys = "ls -l large.txt\r"},
		{.what = NULL, .cell = {{2, "~"}, {ROWS - 1, "~"}}},
		{.what = NULL, .cell = {{1, first}}},
		{.what = "read", .keys = ":r large.txt\r", .cell = {{2, "line 00001"}, {ROWS - 1, "line 00022"}}},
		{.what = "add", .cell = {{CURSOR_LINE, added}}},
		{.what = "delete", .keys = ":3,7d\r", .cell = {{CURSOR_LINE, "line 00007"}}},
		{.what = "move", .keys = "/line 01000\r", .cell = {{CURSOR_LINE, "line 01000"}}},
		{.what = "move", .keys = "/line 01800\r", .cell = {{CURSOR_LINE, "line 01800"}}},
		{.what = "move", .keys = "2G", .cell = {{CURSOR_LINE, "line 00001"}}},
		{.what = "write", .keys = ":w edited.txt\r", .cell = {{LAST_LINE, "1997"}}},
		{.what = "prompt", .keys = ":q!\r"},
	};
	script.steps = sizeof steps / sizeof *steps;
	memcpy(script.step, steps, sizeof steps);
	snprintf(script.step[1].keys, KEYS, "%s\r", editor);
	snprintf(script.step[2].keys, KEYS, "i%s\033", first);
	snprintf(script.step[4].keys, KEYS, "Go%s\033", added);
	for (int i = 1; i < script.steps; i++)
		script.step[i].depends_on_earlier = i > 1;
	script.prepare_files = prepare_files;
	script.files_are_correct = files_are_correct;
	script.memory_kb = (TYPING ? 6 : 8) << 10;
	script.disk_kb = 512;
	make_texts();
}

const struct kernel kernel = {.name = NAME,
			      .setup = setup,
			      .run = run,
			      .expect = expect,
			      .teardown = teardown,
			      .children = CHILDREN_TOO,
			      .single = TYPING};
