/* Someone else's program, timed as a process: the kernel behind entries of kind command and scenario.
 *
 * One operation is one process from before it is made to after it is reaped, as time(1) sees it, with a parent as
 * small as time(1) itself. Its output goes to memory and is compared afterwards; descriptor 0 is /dev/null. Parameters:
 * input=, output= what descriptors 0 and 1 are instead, opened within the time; stdout= what it must print to memory,
 * white space apart (nothing unless given); leaves= files that it must leave, separated by commas, which are removed
 * before the next time; removes= files that it must remove; keep=1 leaves what it left after the last; prepare=N the
 * first N words after -- are a command of their own, done untimed before each time, and what it prints first is noted as
 * the input; check=N the N words after them another, done untimed after each time, which ends well only where the work was
 * done; before=, after= an argument that
 * takes the place of the first for the same command untimed, before and after each time; skips=1 status 77 says that the
 * work cannot be done here, and descriptor 2 says why. Anything on descriptor 2, any other new file, any process that is
 * still running and any exit status but 0 is a failure. peak_kb is the most memory that one of its processes had.
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
#define CANNOT_HERE 77 /* the exit status of a test that cannot be done, as many test suites have it */
#define MAX_FILE ((rlim_t)1 << 30) /* bytes: what prints without end must not fill the memory until its deadline */

extern char **environ;

struct names {
	char text[1024], *name[MAX_NAMES];
	int count;
};

static posix_spawn_file_actions_t actions, aside; /* of the command, and of what is done untimed */
static int out, err;                              /* memory files behind descriptors 1 and 2 */
static struct names leaves, removes;
static char **preparing, **checking, **timed;
static int files_before, status;
static struct rusage used;
static long peak_kb; /* of all times */

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

/* So many of the words that follow, in a NULL-terminated array of their own; NULL without any. */
static char **split_words(struct context *c, const char *key)
{
	uint64_t words = parameter_u64(c, key, 0), there = 0;
	while (timed[there] != NULL)
		there++;
	if (there <= words)
		wrong_arguments(c, "there is no command after --");
	if (words == 0)
		return NULL;
	char **split = calloc(words + 1, sizeof *split);
	if (split == NULL) {
		failed(c, "calloc");
		return NULL;
	}
	memcpy(split, timed, words * sizeof *split);
	timed += words;
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

/* Descriptors 0 to 2 of a child: files by name where they are given; else what we read is what it reads. */
static void descriptors(posix_spawn_file_actions_t *of, const char *input, const char *output)
{
	posix_spawn_file_actions_init(of);
	if (input != NULL)
		posix_spawn_file_actions_addopen(of, 0, input, O_RDONLY, 0);
	if (output != NULL)
		posix_spawn_file_actions_addopen(of, 1, output, O_WRONLY | O_CREAT | O_TRUNC, 0644);
	else
		posix_spawn_file_actions_adddup2(of, out, 1);
	posix_spawn_file_actions_adddup2(of, err, 2);
}

static void setup(struct context *c)
{
	timed = command_line(c);
	preparing = split_words(c, "prepare");
	checking = split_words(c, "check");
	split_names(c, "leaves", &leaves);
	split_names(c, "removes", &removes);
	bound_files(c);
	if (prctl(PR_SET_CHILD_SUBREAPER, 1) != 0) /* so that we know of processes that outlive the command */
		failed(c, "prctl");
	out = memfd_create("stdout", MFD_CLOEXEC);
	err = memfd_create("stderr", MFD_CLOEXEC);
	if (out < 0 || err < 0)
		failed(c, "memfd_create");
	/* in a root without devices there is nothing behind our own descriptor 0 either: the supervisor sees to that */
	const char *nothing = access("/dev/null", R_OK) == 0 ? "/dev/null" : NULL;
	descriptors(&actions, parameter(c, "input", nothing), parameter(c, "output", NULL));
	descriptors(&aside, nothing, NULL);
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
	execute(c, timed, &actions);
}

/* Copies text with every run of white space as one blank, none at the ends. */
static void squeeze(char *to, size_t room, const char *from)
{
	size_t length = 0;
	while (*from != '\0' && length + 2 < room) {
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

/* What was printed, squeezed. Returns its length in bytes, -1 where it is no text or more than we hold. */
static ssize_t read_back(struct context *c, int file, char *text)
{
	char raw[CAPTURE];
	ssize_t length = pread(file, raw, sizeof raw - 1, 0);
	if (length < 0) {
		failed(c, "pread");
		length = 0;
	}
	raw[length] = '\0';
	squeeze(text, CAPTURE, raw);
	return length == sizeof raw - 1 || memchr(raw, '\0', (size_t)length) != NULL ? -1 : length;
}

/* A process that the command started and did not wait for: its work was not in the time. */
static void look_for_survivors(struct context *c, const char *name)
{
	pid_t pid;
	while ((pid = waitpid(-1, NULL, WNOHANG)) > 0)
		; /* one that had ended before */
	if (pid == 0)
		failed_because(c, "command", "%s ended before a process that it had started", name);
}

/* What goes before or after the command, untimed: any complaint is the end of it. */
static void execute_aside(struct context *c, const char *key, char **argv)
{
	char text[CAPTURE];
	empty_files(c);
	execute(c, argv, &aside);
	ssize_t said = read_back(c, err, text);
	if (status != 0 && said == 0) /* cmp(1) tells a difference on descriptor 1 */
		read_back(c, out, text);
	if (status != 0 || said != 0)
		failed_because(c, key, "%s %s ended with status %#x; it said: %.200s", argv[0],
			argv[1] == NULL ? "" : argv[1], (unsigned)status, text);
	look_for_survivors(c, argv[0]);
}

/* The command with another first argument, where before= or after= gives one. */
static void execute_other(struct context *c, const char *key)
{
	const char *other = parameter(c, key, NULL);
	if (other == NULL || timed[1] == NULL)
		return;
	char *first = timed[1];
	timed[1] = (char *)other;
	execute_aside(c, key, timed);
	timed[1] = first;
}

/* What made the input says what it is, the same each time. */
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
	if (preparing != NULL) {
		execute_aside(c, "prepare", preparing);
		note_input(c);
	}
	for (int i = 0; i < removes.count; i++)
		if (access(removes.name[i], F_OK) != 0)
			failed_because(c, "removes", "the file %s is not there to be removed", removes.name[i]);
	files_before = count_files(c);
	execute_other(c, "before");
	empty_files(c);
}

static void judge_end(struct context *c)
{
	char text[CAPTURE];
	const char *name = timed[0];
	ssize_t said = read_back(c, err, text);
	if (WIFSIGNALED(status))
		failed_because(c, "command", "%s was killed by signal %d; it said: %.200s", name, WTERMSIG(status), text);
	else if (WEXITSTATUS(status) == CANNOT_HERE && parameter_u64(c, "skips", 0) != 0)
		skip(c, "%.300s", text);
	else if (WEXITSTATUS(status) != 0)
		failed_because(c, "command", "%s ended with status %d; it said: %.200s", name, WEXITSTATUS(status), text);
	else if (said != 0)
		failed_because(c, "command", "%s complained: %.300s", name, text);
}

static void judge_files(struct context *c)
{
	const char *name = timed[0];
	for (int i = 0; i < leaves.count; i++)
		if (access(leaves.name[i], F_OK) != 0)
			failed_because(c, "leaves", "%s did not leave the file %s", name, leaves.name[i]);
	for (int i = 0; i < removes.count; i++)
		if (access(removes.name[i], F_OK) == 0)
			failed_because(c, "removes", "%s did not remove the file %s", name, removes.name[i]);
	int extra = count_files(c) - files_before - leaves.count + removes.count;
	if (extra > 0)
		failed_because(c, "leaves", "%s left %d files that it should not, in its directory", name, extra);
	else if (extra < 0)
		failed_because(c, "leaves", "%s removed %d files that were there before it", name, -extra);
}

static void finish(struct context *c, uint64_t n, uint64_t *check)
{
	char text[CAPTURE], wanted[CAPTURE];
	int failed_itself = status != 0;
	if (used.ru_maxrss > peak_kb)
		peak_kb = used.ru_maxrss;
	look_for_survivors(c, timed[0]);
	judge_end(c);
	ssize_t printed = read_back(c, out, text);
	squeeze(wanted, sizeof wanted, parameter(c, "stdout", ""));
	if (printed < 0 || strcmp(text, wanted) != 0)
		failed_because(c, "stdout", "%s printed '%.150s'%s instead of '%.150s'", timed[0], text,
			printed < 0 ? " and more" : "", wanted);
	execute_other(c, "after");
	judge_files(c);
	if (checking != NULL && !failed_itself)
		execute_aside(c, "check", checking);
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
