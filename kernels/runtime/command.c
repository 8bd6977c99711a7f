/* Someone else's program, timed as a process: the kernel behind entries of kind command and scenario.
 *
 * One operation is one process from before it is made to after it is reaped, as time(1) sees it, with a parent as
 * small as time(1) itself. Its output goes to memory and is compared afterwards; descriptor 0 is /dev/null. Parameters:
 * stdout= what it must print, white space apart (nothing unless given); leaves= files that it must leave, separated by
 * commas, which are removed before the next time; keep=1 leaves them after the last; before=, after= an argument that
 * takes the place of the first for the same command untimed, before and after each time. Anything on descriptor 2, any
 * other new file, any process that is still running and any exit status but 0 is a failure.
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
#define MAX_LEAVES 16
#define MAX_FILE ((rlim_t)1 << 30) /* bytes: what prints without end must not fill the memory until its deadline */

extern char **environ;

static posix_spawn_file_actions_t actions;
static int out, err;                      /* memory files behind descriptors 1 and 2 of the command */
static char *leaves[MAX_LEAVES];
static int leaves_count, files_before;
static int status;

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
	for (int i = 0; i < leaves_count; i++)
		if (unlink(leaves[i]) != 0 && errno != ENOENT)
			failed(c, "unlink");
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

static void setup(struct context *c)
{
	static char names[1024];
	if (command_line(c)[0] == NULL) {
		failed_because(c, "arguments", "there is no command after --");
		return;
	}
	if (strlen(parameter(c, "leaves", "")) >= sizeof names)
		failed_because(c, "arguments", "leaves= is longer than %zu bytes", sizeof names - 1);
	snprintf(names, sizeof names, "%s", parameter(c, "leaves", ""));
	for (char *name = strtok(names, ","); name != NULL; name = strtok(NULL, ",")) {
		if (leaves_count == MAX_LEAVES) {
			failed_because(c, "arguments", "leaves= has more than %d names", MAX_LEAVES);
			break;
		}
		leaves[leaves_count++] = name;
	}
	bound_files(c);
	if (prctl(PR_SET_CHILD_SUBREAPER, 1) != 0) /* so that we know of processes that outlive the command */
		failed(c, "prctl");
	out = memfd_create("stdout", MFD_CLOEXEC);
	err = memfd_create("stderr", MFD_CLOEXEC);
	if (out < 0 || err < 0)
		failed(c, "memfd_create");
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&actions, out, 1);
	posix_spawn_file_actions_adddup2(&actions, err, 2);
	remove_leaves(c);
	files_before = count_files(c);
}

static void empty_files(struct context *c)
{
	if (ftruncate(out, 0) != 0 || ftruncate(err, 0) != 0 || lseek(out, 0, SEEK_SET) != 0 ||
	    lseek(err, 0, SEEK_SET) != 0)
		failed(c, "ftruncate");
}

static void execute(struct context *c)
{
	pid_t pid;
	char **argv = command_line(c);
	int error = posix_spawn(&pid, argv[0], &actions, NULL, argv, environ);
	if (error != 0) {
		errno = error;
		failed(c, "posix_spawn");
		return;
	}
	while (waitpid(pid, &status, 0) != pid)
		if (errno != EINTR) {
			failed(c, "waitpid");
			return;
		}
}

static void run(struct context *c, uint64_t n, uint64_t *check)
{
	(void)n;
	(void)check;
	execute(c);
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

/* The command with another first argument, where before= or after= gives one. */
static void execute_other(struct context *c, const char *key)
{
	char text[CAPTURE], **argv = command_line(c);
	const char *other = parameter(c, key, NULL);
	if (other == NULL || argv[1] == NULL)
		return;
	char *first = argv[1];
	empty_files(c);
	argv[1] = (char *)other;
	execute(c);
	argv[1] = first;
	ssize_t said = read_back(c, err, text);
	if (status != 0 || said != 0)
		failed_because(c, key, "%s %s ended with status %#x; it said: %.200s", argv[0], other, (unsigned)status,
			text);
}

static void prepare(struct context *c, uint64_t n)
{
	(void)n;
	remove_leaves(c);
	execute_other(c, "before");
	empty_files(c);
}

static void finish(struct context *c, uint64_t n, uint64_t *check)
{
	char text[CAPTURE], wanted[CAPTURE];
	const char *name = command_line(c)[0];
	look_for_survivors(c, name);
	ssize_t said = read_back(c, err, text);
	if (WIFSIGNALED(status))
		failed_because(c, "command", "%s was killed by signal %d; it said: %.200s", name, WTERMSIG(status), text);
	else if (WEXITSTATUS(status) != 0)
		failed_because(c, "command", "%s ended with status %d; it said: %.200s", name, WEXITSTATUS(status), text);
	else if (said != 0)
		failed_because(c, "command", "%s complained: %.300s", name, text);
	ssize_t printed = read_back(c, out, text);
	squeeze(wanted, sizeof wanted, parameter(c, "stdout", ""));
	if (printed < 0 || strcmp(text, wanted) != 0)
		failed_because(c, "stdout", "%s printed '%.150s'%s instead of '%.150s'", name, text,
			printed < 0 ? " and more" : "", wanted);
	execute_other(c, "after");
	for (int i = 0; i < leaves_count; i++)
		if (access(leaves[i], F_OK) != 0)
			failed_because(c, "leaves", "%s did not leave the file %s", name, leaves[i]);
	int extra = count_files(c) - files_before - leaves_count;
	if (extra > 0)
		failed_because(c, "leaves", "%s left %d files that it should not, in its directory", name, extra);
	else if (extra < 0)
		failed_because(c, "leaves", "%s removed %d files that were there before it", name, -extra);
	*check = n;
}

static uint64_t expect(struct context *c, uint64_t n)
{
	(void)c;
	return n;
}

static void teardown(struct context *c)
{
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
