/* A command of the user's, timed as a process: what `gritstone bench` and `ab` compare. It answers no table.
 *
 * One operation is one process from before it is made to after it is reaped, as time(1) sees it, with a parent as small
 * as time(1) itself. It stands where the user stands, has the user's environment, and prints and leaves what it likes.
 * Its output goes to memory: some programs do less when they see /dev/null, and a pipe would be read by us meanwhile.
 * Parameters: prepare=, cleanup= a command for the shell, untimed, before and after each time; ignore_failure=1 takes any
 * exit status and signal for good, statuses=N,... these; leave_out=1 makes no sample of an execution that failed, and notes
 * it as left_out; background=1 takes processes that it leaves running. input= is the file that it reads in place of /dev/null; output= the file
 * that takes its output, or `pipe`, which we empty within the time; inherit=PID gives it the output of that process, our
 * user's. start_up_ns=, start_up_user_ns=, start_up_system_ns= are passed on: time and CPU time of a shell that does nothing, which
 * are no part of the command's. Peak memory (peak_kb) is at least what this process had when it started the command, about 1 MB.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
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

#define OUTPUT ((off_t)1 << 30) /* bytes: what prints without end must not fill the memory until its deadline */
#define LAST_WRITE ((off_t)1 << 21) /* bytes that a refused write may have left free: a large page */
#define COMPLAINT 200

extern char **environ;

static posix_spawn_file_actions_t actions;
static int out = -1, err = -1;
static int feed = -1, drain = -1; /* where output= is `pipe`, its ends: of the command, and ours */
static int status;
static struct rusage used;

/* The first start of a process touches memory of ours that later ones find touched: it executes nothing. */
static void start_nothing(void)
{
	pid_t pid;
	char *argv[] = {"/", NULL};
	if (posix_spawn(&pid, argv[0], NULL, NULL, argv, environ) == 0)
		waitpid(pid, NULL, 0);
}

static void setup(struct context *c)
{
	if (command_line(c)[0] == NULL)
		wrong_arguments(c, "there is no command after --");
	start_nothing();
	if (prctl(PR_SET_CHILD_SUBREAPER, 1) != 0) /* so that we know of processes that outlive the command */
		failed(c, "prctl");
	const char *keys[] = {"start_up_ns", "start_up_user_ns", "start_up_system_ns"};
	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
		if (parameter(c, keys[i], NULL) != NULL)
			note(c, keys[i], "%s", parameter(c, keys[i], NULL));
}

/* HYPERFINE_ITERATION, where it is set, is the number of the first execution of this launch; each has its own. */
static void number_execution(struct context *c)
{
	static const char *first;
	static uint64_t done;
	char *end, text[32];
	if (first == NULL)
		first = getenv("HYPERFINE_ITERATION");
	if (first == NULL)
		return;
	uint64_t number = strtoull(first, &end, 10) + done++;
	if (end == first || *end != '\0')
		return;
	snprintf(text, sizeof text, "%" PRIu64, number);
	first = done == 1 ? strdup(first) : first;
	if (first == NULL || setenv("HYPERFINE_ITERATION", text, 1) != 0)
		failed(c, "setenv");
}

/* Reads what the command writes to the pipe until nobody can write to it any more. */
static void empty_pipe(struct context *c)
{
	static char block[1 << 16];
	ssize_t length;
	close(feed);
	while ((length = read(drain, block, sizeof block)) != 0)
		if (length < 0 && errno != EINTR) {
			failed(c, "read");
			break;
		}
	close(drain);
	drain = -1;
}

/* An empty file in memory that cannot grow beyond OUTPUT. */
static int memory_file(struct context *c, int old)
{
	if (old >= 0)
		close(old);
	int file = memfd_create("output", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (file < 0 || ftruncate(file, OUTPUT) != 0 || fcntl(file, F_ADD_SEALS, F_SEAL_GROW) != 0)
		failed(c, "memfd_create");
	return file;
}

/* The file that execvp(3) would execute; NULL without one. */
static const char *find_program(const char *name, char *path, size_t size)
{
	const char *entry = getenv("PATH");
	if (strchr(name, '/') != NULL)
		return name;
	while (entry != NULL) {
		size_t length = strcspn(entry, ":");
		snprintf(path, size, "%.*s/%s", (int)length, length > 0 ? entry : ".", name);
		if (access(path, X_OK) == 0)
			return path;
		entry = entry[length] == ':' ? entry + length + 1 : NULL;
	}
	return NULL;
}

/* A script without #! is executed by the shell, as shells do. */
static int spawn_script(pid_t *pid, char **argv)
{
	char path[PATH_MAX];
	const char *script = find_program(argv[0], path, sizeof path);
	size_t words = 0;
	while (argv[words] != NULL)
		words++;
	char **by_shell = calloc(words + 2, sizeof *by_shell);
	if (script == NULL || by_shell == NULL)
		return ENOEXEC;
	by_shell[0] = "/bin/sh";
	by_shell[1] = (char *)script;
	memcpy(by_shell + 2, argv + 1, words * sizeof *argv);
	int error = posix_spawn(pid, by_shell[0], &actions, NULL, by_shell, environ);
	free(by_shell);
	return error;
}

static void execute(struct context *c, char **argv)
{
	pid_t pid;
	int error = posix_spawnp(&pid, argv[0], &actions, NULL, argv, environ);
	if (error == ENOEXEC)
		error = spawn_script(&pid, argv);
	if (error != 0) {
		failed_because(c, "command", "%s cannot be started: %s", argv[0], strerror(error));
		return;
	}
	if (drain >= 0)
		empty_pipe(c);
	while (wait4(pid, &status, 0, &used) != pid)
		if (errno != EINTR) {
			failed(c, "wait4");
			return;
		}
}

/* Whether statuses= names it. */
static int is_good(const struct context *c, int code)
{
	const char *text = parameter(c, "statuses", "");
	while (*text != '\0') {
		char *end;
		if (strtol(text, &end, 10) == code && end != text)
			return 1;
		text = *end == ',' ? end + 1 : "";
	}
	return 0;
}

static int has_failed(void)
{
	return WIFSIGNALED(status) || WEXITSTATUS(status) != 0;
}

/* The end of the launch, for this status, with what it said. */
static void refuse(struct context *c, const char *call, const char *what)
{
	char said[COMPLAINT + 1];
	ssize_t length = pread(err, said, COMPLAINT, 0);
	said[length > 0 ? length : 0] = '\0';
	size_t end = strlen(said);
	while (end > 0 && (said[end - 1] == '\n' || said[end - 1] == ' '))
		said[--end] = '\0';
	const char *how = WIFSIGNALED(status) ? "killed by signal" : "exit status";
	int number = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
	const char *open = end > 0 ? " (" : "", *close = end > 0 ? ")" : "";
	failed_because(c, call, "%s%s %d%s%s%s", what, how, number, open, said, close);
}

/* What fills the memory file was refused the rest, whatever the program made of that. */
static int has_filled(int file)
{
	return lseek(file, 0, SEEK_CUR) > OUTPUT - LAST_WRITE;
}

/* Judges an execution of the command: the end of the launch, where a failure is neither good nor left out. */
static void judge(struct context *c)
{
	if (has_filled(out) || has_filled(err)) {
		failed_because(c, "output", "it prints 1 GiB or more, and its output is kept in memory");
		return;
	}
	if (!has_failed())
		return;
	int number = WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
	if (parameter_u64(c, "ignore_failure", 0) != 0 || is_good(c, number))
		note(c, "status", "%d", number);
	else if (parameter_u64(c, "leave_out", 0) != 0) {
		note(c, "left_out", "%d", number);
		leave_out(c);
	} else
		refuse(c, "status", "");
}

/* Descriptors 0 to 2 of what is done untimed: nothing, and memory. */
static void fresh_files(struct context *c, const char *input)
{
	out = memory_file(c, out);
	err = memory_file(c, err);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, 0, input, O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&actions, out, 1);
	posix_spawn_file_actions_adddup2(&actions, err, 2);
}

/* The same of the command. What is named is opened within the time, as a shell does. */
static void command_files(struct context *c)
{
	const char *output = parameter(c, "output", NULL);
	uint64_t inherit = parameter_u64(c, "inherit", 0);
	int ends[2];
	fresh_files(c, parameter(c, "input", "/dev/null"));
	for (int file = 1; inherit != 0 && file <= 2; file++) {
		char name[64];
		snprintf(name, sizeof name, "/proc/%" PRIu64 "/fd/%d", inherit, file);
		posix_spawn_file_actions_addopen(&actions, file, name, O_WRONLY | O_APPEND, 0);
	}
	if (output == NULL)
		return;
	if (strcmp(output, "pipe") != 0) {
		posix_spawn_file_actions_addopen(&actions, 1, output, O_WRONLY | O_CREAT | O_TRUNC, 0644);
		return;
	}
	if (pipe2(ends, O_CLOEXEC) != 0) {
		failed(c, "pipe2");
		return;
	}
	drain = ends[0];
	feed = ends[1];
	posix_spawn_file_actions_adddup2(&actions, feed, 1);
}

/* Whether a process is left that a command has started; those that have ended are waited for. We are who adopts them. */
static int is_anybody_left(void)
{
	pid_t pid;
	while ((pid = waitpid(-1, NULL, WNOHANG)) > 0)
		;
	return pid == 0;
}

static int is_background_refused(struct context *c)
{
	return is_anybody_left() && parameter_u64(c, "background", 0) == 0;
}

/* The command that prepare= or cleanup= gives, if it does; what it is called in messages. */
static void shell(struct context *c, const char *key, const char *what)
{
	const char *text = parameter(c, key, NULL);
	if (text == NULL)
		return;
	char *argv[] = {"/bin/sh", "-c", (char *)text, NULL};
	fresh_files(c, "/dev/null");
	execute(c, argv);
	char begin[64];
	snprintf(begin, sizeof begin, "%s: ", what);
	if (has_failed())
		refuse(c, key, begin);
	if (is_background_refused(c))
		failed_because(c, "background", "%s leaves a process running, beside which it would be timed", what);
	posix_spawn_file_actions_destroy(&actions);
}

static void prepare(struct context *c, uint64_t n)
{
	(void)n;
	number_execution(c);
	shell(c, "prepare", "the command before each execution");
	command_files(c);
}

static void run(struct context *c, uint64_t n, uint64_t *check)
{
	(void)n;
	(void)check;
	execute(c, command_line(c));
}

static void finish(struct context *c, uint64_t n, uint64_t *check)
{
	if (is_background_refused(c))
		failed_because(c, "background", "it leaves a process running, whose work is not in its time");
	judge(c);
	posix_spawn_file_actions_destroy(&actions);
	note(c, "peak_kb", "%ld", used.ru_maxrss);
	shell(c, "cleanup", "the command after each execution");
	*check = n;
}

static uint64_t expect(struct context *c, uint64_t n)
{
	(void)c;
	return n;
}

const struct kernel kernel = {
	.name = "runtime/user",
	.setup = setup,
	.prepare = prepare,
	.run = run,
	.finish = finish,
	.expect = expect,
	.children = CHILDREN_ALONE,
	.single = 1,
};
