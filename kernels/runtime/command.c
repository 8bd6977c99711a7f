/* An external program, timed as a process: the workload of catalog entries of kind command and scenario.
 *
 * One operation is one process, from before its creation until it is reaped, as time(1) measures, with a parent as small as time(1) itself.
 * Its output goes to memory and is checked afterwards; descriptor 0 is /dev/null. Parameters: input=, output= files for descriptors 0 and
 * 1, opened within the time; stdout= expected output, ignoring white space (default: none); leaves= files that it must leave, separated by
 * commas, which are removed before the next execution; removes= files that it must remove; keep=1 keeps the files after the last execution;
 * prepare=N the first N words after -- are a command run untimed before each execution, whose first output is noted as the input; check=N
 * the next N words are a command run untimed after each execution, which verifies the work; before=, after= a replacement of the first
 * argument, for an untimed run of the same command before and after each execution; skips=1 status 77 means that the work cannot be done
 * here, with the reason on descriptor 2. Anything on descriptor 2, any other new file, any process still running and any exit status but 0
 * is a failure. peak_kb is the maximum resident size of any one process.
 */
#define _GNU_SOURCE
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kernel.h"

#define CAPTURE 4096
#define MAX_NAMES 16
#define SKIP_STATUS 77 /* exit status of a skipped test, as in automake */
#define MAX_FILE ((rlim_t)1 << 30) /* bytes: bounds the memory of endless output until the deadline */

extern char **environ;

struct names {
	char text[1024], *name[MAX_NAMES];
	int count;
};

static posix_spawn_file_actions_t actions, untimed_actions; /* of the command, and of untimed commands */
static int out, err;                              /* memory files behind descriptors 1 and 2 */
static struct names leaves, removes;
static char **prepare_argv, **check_argv, **timed_argv;
static int files_before, status;
static struct rusage used;
static long peak_kb; /* maximum over all executions */

static int count_files(struct context *c)
{
	int count = 0;
	DIR *directory = opendir(".");
	if (directory == NULL) {
		failed(c, "opendir");
		return 0;
	}
	while (readdir(directory) != NULL)
		count++;
	closedir(directory);
	return count;
}

static void remove_leaves(struct context *c)
{
	for (int i = 0; i < leaves.count; i++)
		if (unlink(leaves.name[i]) != 0 && errno != ENOENT)
			failed(c, "unlink");
}

static void split_names(struct context *c, const char *key, struct names *to)
{
	if (strlen(parameter(c, key, "")) >= sizeof to->text)
		wrong_arguments(c, "%s= is longer than %zu bytes", key, sizeof to->text - 1);
	snprintf(to->text, sizeof to->text, "%s", parameter(c, key, ""));
	for (char *name = strtok(to->text, ","); name != NULL; name = strtok(NULL, ",")) {
		if (to->count == MAX_NAMES)
			wrong_arguments(c, "%s= has more than %d names", key, MAX_NAMES);
		to->name[to->count++] = name;
	}
}

/* Moves the number of words in parameter `key` from timed_argv to a new argv; NULL for 0 words. */
static char **split_words(struct context *c, const char *key)
{
	uint64_t words = parameter_u64(c, key, 0), count = 0;
	while (timed_argv[count] != NULL)
		count++;
	if (count <= words)
		wrong_arguments(c, "there is no command after --");
	if (words == 0)
		return NULL;
	char **split = calloc(words + 1, sizeof *split);
	if (split == NULL) {
		failed(c, "calloc");
		return NULL;
	}
	memcpy(split, timed_argv, words * sizeof *split);
	timed_argv += words;
	return split;
}

static void bound_files(struct context *c)
{
	struct rlimit limit;
	if (getrlimit(RLIMIT_FSIZE, &limit) != 0)
		failed(c, "getrlimit");
	else if (limit.rlim_cur > MAX_FILE) {
		limit.rlim_cur = MAX_FILE;
		if (setrlimit(RLIMIT_FSIZE, &limit) != 0)
			failed(c, "setrlimit");
	}
}

/* Descriptors 0 to 2 of a child: named files, else inherited input and output to memory. */
static void set_descriptors(posix_spawn_file_actions_t *file_actions, const char *input, const char *output)
{
	posix_spawn_file_actions_init(file_actions);
	if (input != NULL)
		posix_spawn_file_actions_addopen(file_actions, 0, input, O_RDONLY, 0);
	if (output != NULL)
		posix_spawn_file_actions_addopen(file_actions, 1, output, O_WRONLY | O_CREAT | O_TRUNC, 0644);
	else
		posix_spawn_file_actions_adddup2(file_actions, out, 1);
	posix_spawn_file_actions_adddup2(file_actions, err, 2);
}

static void setup(struct context *c)
{
	timed_argv = command_line(c);
	prepare_argv = split_words(c, "prepare");
	check_argv = split_words(c, "check");
	split_names(c, "leaves", &leaves);
	split_names(c, "removes", &removes);
	bound_files(c);
	if (prctl(PR_SET_CHILD_SUBREAPER, 1) != 0) /* detects processes that outlive the command */
		failed(c, "prctl");
	out = memfd_create("stdout", MFD_CLOEXEC);
	err = memfd_create("stderr", MFD_CLOEXEC);
	if (out < 0 || err < 0)
		failed(c, "memfd_create");
	/* without /dev/null, descriptor 0 is an empty file from the supervisor */
	const char *nothing = access("/dev/null", R_OK) == 0 ? "/dev/null" : NULL;
	set_descriptors(&actions, parameter(c, "input", nothing), parameter(c, "output", NULL));
	set_descriptors(&untimed_actions, nothing, NULL);
}

static void empty_files(struct context *c)
{
	if (ftruncate(out, 0) != 0 || ftruncate(err, 0) != 0 || lseek(out, 0, SEEK_SET) != 0 ||
	    lseek(err, 0, SEEK_SET) != 0)
		failed(c, "ftruncate");
}

static void execute(struct context *c, char **argv, const posix_spawn_file_actions_t *files)
{
	pid_t pid;
	int error = posix_spawn(&pid, argv[0], files, NULL, argv, environ);
	if (error != 0) {
		errno = error;
		failed(c, "posix_spawn");
		return;
	}
	while (wait4(pid, &status, 0, &used) != pid)
		if (errno != EINTR) {
			failed(c, "wait4");
			return;
		}
}

static void run(struct context *c, uint64_t n, uint64_t *check)
{
	(void)n;
	(void)check;
	execute(c, timed_argv, &actions);
}

/* Collapses white space, and trims both ends. */
static void normalize_space(char *to, size_t size, const char *from)
{
	size_t length = 0;
	while (*from != '\0' && length + 2 < size) {
		if (!isspace((unsigned char)*from)) {
			to[length++] = *from++;
			continue;
		}
		while (isspace((unsigned char)*from))
			from++;
		if (length > 0 && *from != '\0')
			to[length++] = ' ';
	}
	to[length] = '\0';
}

/* Reads output with collapsed white space. Returns its raw length, -1 if it is binary or too long. */
static ssize_t read_back(struct context *c, int file, char *text)
{
	char raw[CAPTURE];
	ssize_t length = pread(file, raw, sizeof raw - 1, 0);
	if (length < 0) {
		failed(c, "pread");
		length = 0;
	}
	raw[length] = '\0';
	normalize_space(text, CAPTURE, raw);
	return length == sizeof raw - 1 || memchr(raw, '\0', (size_t)length) != NULL ? -1 : length;
}

/* A process that outlives the command: its work is not in the time. */
static void reject_background_process(struct context *c, const char *name)
{
	pid_t pid;
	while ((pid = waitpid(-1, NULL, WNOHANG)) > 0)
		; /* zombie */
	if (pid == 0)
		failed_because(c, "command", "%s ended before a process that it had started", name);
}

/* An untimed command; output on descriptor 2 is a failure. */
static void execute_untimed(struct context *c, const char *key, char **argv)
{
	char text[CAPTURE];
	empty_files(c);
	execute(c, argv, &untimed_actions);
	ssize_t length = read_back(c, err, text);
	if (status != 0 && length == 0) /* cmp(1) reports differences on descriptor 1 */
		read_back(c, out, text);
	if (status != 0 || length != 0)
		failed_because(c, key, "%s %s ended with status %#x; it said: %.200s", argv[0],
			argv[1] == NULL ? "" : argv[1], (unsigned)status, text);
	reject_background_process(c, argv[0]);
}

/* The command with the first argument of before= or after=, if given. */
static void execute_variant(struct context *c, const char *key)
{
	const char *other = parameter(c, key, NULL);
	if (other == NULL || timed_argv[1] == NULL)
		return;
	char *first = timed_argv[1];
	timed_argv[1] = (char *)other;
	execute_untimed(c, key, timed_argv);
	timed_argv[1] = first;
}

/* Notes the description printed by the prepare command, once. */
static void note_input(struct context *c)
{
	static int noted;
	char text[CAPTURE];
	if (!noted && read_back(c, out, text) > 0)
		note(c, "input", "%.500s", text);
	noted = 1;
}

static void prepare(struct context *c, uint64_t n)
{
	(void)n;
	remove_leaves(c);
	if (prepare_argv != NULL) {
		execute_untimed(c, "prepare", prepare_argv);
		note_input(c);
	}
	for (int i = 0; i < removes.count; i++)
		if (access(removes.name[i], F_OK) != 0)
			failed_because(c, "removes", "the file %s, to be removed, does not exist", removes.name[i]);
	files_before = count_files(c);
	execute_variant(c, "before");
	empty_files(c);
}

static void check_status(struct context *c)
{
	char text[CAPTURE];
	const char *name = timed_argv[0];
	ssize_t length = read_back(c, err, text);
	if (WIFSIGNALED(status))
		failed_because(c, "command", "%s was killed by signal %d; it said: %.200s", name, WTERMSIG(status), text);
	else if (WEXITSTATUS(status) == SKIP_STATUS && parameter_u64(c, "skips", 0) != 0)
		skip(c, "%.300s", text);
	else if (WEXITSTATUS(status) != 0)
		failed_because(c, "command", "%s ended with status %d; it said: %.200s", name, WEXITSTATUS(status), text);
	else if (length != 0)
		failed_because(c, "command", "%s complained: %.300s", name, text);
}

static void check_files(struct context *c)
{
	const char *name = timed_argv[0];
	for (int i = 0; i < leaves.count; i++)
		if (access(leaves.name[i], F_OK) != 0)
			failed_because(c, "leaves", "%s did not leave the file %s", name, leaves.name[i]);
	for (int i = 0; i < removes.count; i++)
		if (access(removes.name[i], F_OK) == 0)
			failed_because(c, "removes", "%s did not remove the file %s", name, removes.name[i]);
	int extra = count_files(c) - files_before - leaves.count + removes.count;
	if (extra > 0)
		failed_because(c, "leaves", "%s left %d unexpected files in its directory", name, extra);
	else if (extra < 0)
		failed_because(c, "leaves", "%s removed %d files that existed before", name, -extra);
}

static void finish(struct context *c, uint64_t n, uint64_t *check)
{
	char text[CAPTURE], expected[CAPTURE];
	int command_failed = status != 0;
	if (used.ru_maxrss > peak_kb)
		peak_kb = used.ru_maxrss;
	reject_background_process(c, timed_argv[0]);
	check_status(c);
	ssize_t printed = read_back(c, out, text);
	normalize_space(expected, sizeof expected, parameter(c, "stdout", ""));
	if (printed < 0 || strcmp(text, expected) != 0)
		failed_because(c, "stdout", "%s printed '%.150s'%s instead of '%.150s'", timed_argv[0], text,
			printed < 0 ? " and more" : "", expected);
	execute_variant(c, "after");
	check_files(c);
	if (check_argv != NULL && !command_failed)
		execute_untimed(c, "check", check_argv);
	*check = n;
}

static uint64_t expect(struct context *c, uint64_t n)
{
	(void)c;
	return n;
}

static void teardown(struct context *c)
{
	if (peak_kb > 0)
		note(c, "peak_kb", "%ld", peak_kb);
	if (parameter_u64(c, "keep", 0) == 0)
		remove_leaves(c);
}

const struct kernel kernel = {
	.name = "runtime/command",
	.setup = setup,
	.prepare = prepare,
	.run = run,
	.finish = finish,
	.expect = expect,
	.teardown = teardown,
	.children = CHILDREN_ALONE,
	.single = 1,
};
