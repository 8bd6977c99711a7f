/* A user's command, timed as a process, for `gritstone bench` and `ab`.
 *
 * One operation is one process, from before its creation until it is reaped, as time(1) measures, with a parent as small as time(1) itself.
 * It runs in the user's directory and environment, and its output and files are its own business. Its output goes to memory: some programs
 * do less when they detect /dev/null, and we would have to read a pipe meanwhile. Parameters: prepare=, cleanup= shell commands, run
 * untimed before and after each execution; ignore_failure=1 accepts any exit status and signal, statuses=N,... these; leave_out=1 discards
 * failed executions as samples, and notes them as left_out; background=1 accepts processes left running. input= replaces /dev/null as
 * input; output= is a file for the output, or `pipe`, which we read within the time; inherit=N,M: our descriptors of the output and
 * the error output of the harness of the user. start_up_ns=, start_up_error_ns=, start_up_user_ns=, start_up_system_ns= are passed
 * through: elapsed time with its error and CPU time of an empty shell command, to be subtracted. Peak memory (peak_kb) is at least
 * that of this process at the start of the command, about 1 MB.
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
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kernel.h"

#define OUTPUT ((off_t)1 << 30) /* bytes: bounds the memory of endless output until the deadline */
#define LAST_WRITE ((off_t)1 << 21) /* bytes that a rejected write may leave free: a huge page */
#define MAX_MESSAGE 200

extern char **environ;

static posix_spawn_file_actions_t actions;
static int out = -1, err = -1;
static int output_write_end = -1, output_read_end = -1; /* with output=pipe */
static int inherited[2] = {-1, -1};
static int status;
static struct rusage used;
static const char *program; /* path of the timed command; NULL: not found */

/* The first posix_spawn(3) has page faults that later ones do not have; this one executes nothing. */
static void warm_up_spawn(void)
{
	pid_t pid;
	char *argv[] = {"/", NULL};
	if (posix_spawn(&pid, argv[0], NULL, NULL, argv, environ) == 0)
		waitpid(pid, NULL, 0);
}

static int is_program(const char *path)
{
	struct stat found;
	return access(path, X_OK) == 0 && stat(path, &found) == 0 && S_ISREG(found.st_mode);
}

/* PATH search as in execvp(3); NULL: not found. */
static const char *find_program(const char *name, char *path, size_t size)
{
	const char *entry = getenv("PATH");
	if (strchr(name, '/') != NULL)
		return name;
	while (entry != NULL) {
		size_t length = strcspn(entry, ":");
		snprintf(path, size, "%.*s/%s", length > 0 ? (int)length : 1, length > 0 ? entry : ".", name);
		if (is_program(path))
			return path;
		entry = entry[length] == ':' ? entry + length + 1 : NULL;
	}
	return NULL;
}

static void find_command(struct context *c)
{
	static char path[PATH_MAX];
	program = find_program(command_line(c)[0], path, sizeof path);
}

/* The command gets them as 1 and 2 alone. */
static void parse_inherited(struct context *c)
{
	const char *text = parameter(c, "inherit", NULL);
	if (text == NULL)
		return;
	if (sscanf(text, "%d,%d", &inherited[0], &inherited[1]) != 2)
		wrong_arguments(c, "inherit=%s is not two descriptors", text);
	for (int file = 0; file < 2; file++)
		if (fcntl(inherited[file], F_SETFD, FD_CLOEXEC) != 0)
			failed_because(c, "inherit", "descriptor %d of inherit=%s: %s", inherited[file], text, strerror(errno));
}

static void setup(struct context *c)
{
	if (command_line(c)[0] == NULL)
		wrong_arguments(c, "there is no command after --");
	find_command(c);
	parse_inherited(c);
	warm_up_spawn();
	if (prctl(PR_SET_CHILD_SUBREAPER, 1) != 0) /* detects processes that outlive the command */
		failed(c, "prctl");
	const char *keys[] = {"start_up_ns", "start_up_error_ns", "start_up_user_ns", "start_up_system_ns"};
	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
		if (parameter(c, keys[i], NULL) != NULL)
			note(c, keys[i], "%s", parameter(c, keys[i], NULL));
}

/* HYPERFINE_ITERATION, if set, is the number of the launch's first execution; counts it up. */
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

/* Reads the pipe until all writers have closed it. */
static void empty_pipe(struct context *c)
{
	static char block[1 << 16];
	ssize_t length;
	close(output_write_end);
	while ((length = read(output_read_end, block, sizeof block)) != 0)
		if (length < 0 && errno != EINTR) {
			failed(c, "read");
			break;
		}
	close(output_read_end);
	output_read_end = -1;
}

/* A memory file that cannot grow beyond OUTPUT. */
static int memory_file(struct context *c, int old)
{
	if (old >= 0)
		close(old);
	int file = memfd_create("output", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (file < 0 || ftruncate(file, OUTPUT) != 0 || fcntl(file, F_ADD_SEALS, F_SEAL_GROW) != 0)
		failed(c, "memfd_create");
	return file;
}

/* Runs a script without #! by the shell, as shells do. */
static int spawn_script(pid_t *pid, const char *script, char **argv)
{
	size_t words = 0;
	while (argv[words] != NULL)
		words++;
	char **by_shell = calloc(words + 2, sizeof *by_shell);
	if (by_shell == NULL)
		return ENOEXEC;
	by_shell[0] = "/bin/sh";
	by_shell[1] = (char *)script;
	memcpy(by_shell + 2, argv + 1, words * sizeof *argv);
	int error = posix_spawn(pid, by_shell[0], &actions, NULL, by_shell, environ);
	free(by_shell);
	return error;
}

/* `path` is that of the program; NULL: posix_spawnp(3) says why there is none. */
static void execute(struct context *c, const char *path, char **argv)
{
	pid_t pid;
	int error = path == NULL ? posix_spawnp(&pid, argv[0], &actions, NULL, argv, environ) :
				   posix_spawn(&pid, path, &actions, NULL, argv, environ);
	if (error == ENOEXEC && path != NULL)
		error = spawn_script(&pid, path, argv);
	if (error != 0) {
		failed_because(c, "command", "%s cannot be started: %s", argv[0], strerror(error));
		return;
	}
	if (output_read_end >= 0)
		empty_pipe(c);
	while (wait4(pid, &status, 0, &used) != pid)
		if (errno != EINTR) {
			failed(c, "wait4");
			return;
		}
}

/* Whether statuses= lists it. */
static int is_accepted(const struct context *c, int code)
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

/* Fails the launch with the status and the error output. */
static void fail_with_output(struct context *c, const char *call, const char *what)
{
	char output[MAX_MESSAGE + 1];
	ssize_t length = pread(err, output, MAX_MESSAGE, 0);
	output[length > 0 ? length : 0] = '\0';
	size_t end = strlen(output);
	while (end > 0 && (output[end - 1] == '\n' || output[end - 1] == ' '))
		output[--end] = '\0';
	const char *how = WIFSIGNALED(status) ? "killed by signal" : "exit status";
	int number = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
	const char *left = end > 0 ? " (" : "", *right = end > 0 ? ")" : "";
	failed_because(c, call, "%s%s %d%s%s%s", what, how, number, left, output, right);
}

/* The program's further writes failed, however it reacted. */
static int is_full(int file)
{
	return lseek(file, 0, SEEK_CUR) > OUTPUT - LAST_WRITE;
}

/* Fails the launch unless a failure is accepted or left out. */
static void check_status(struct context *c)
{
	if (is_full(out) || is_full(err)) {
		failed_because(c, "output", "it prints 1 GiB or more, and its output is kept in memory");
		return;
	}
	if (!has_failed())
		return;
	int number = WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
	if (parameter_u64(c, "ignore_failure", 0) != 0 || is_accepted(c, number))
		note(c, "status", "%d", number);
	else if (parameter_u64(c, "leave_out", 0) != 0) {
		note(c, "left_out", "%d", number);
		leave_out(c);
	} else
		fail_with_output(c, "status", "");
}

/* Descriptors 0 to 2 of untimed commands: `input`, and memory. */
static void set_untimed_files(struct context *c, const char *input)
{
	out = memory_file(c, out);
	err = memory_file(c, err);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, 0, input, O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&actions, out, 1);
	posix_spawn_file_actions_adddup2(&actions, err, 2);
}

/* Descriptors of the timed command. Named files are opened within the time, as in a shell. */
static void set_command_files(struct context *c)
{
	const char *output = parameter(c, "output", NULL);
	int ends[2];
	set_untimed_files(c, parameter(c, "input", "/dev/null"));
	for (int file = 0; file < 2; file++)
		if (inherited[file] >= 0)
			posix_spawn_file_actions_adddup2(&actions, inherited[file], 1 + file);
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
	output_read_end = ends[0];
	output_write_end = ends[1];
	posix_spawn_file_actions_adddup2(&actions, output_write_end, 1);
}

/* Reaps zombies; returns whether an adopted process still runs. */
static int has_background_process(void)
{
	pid_t pid;
	while ((pid = waitpid(-1, NULL, WNOHANG)) > 0)
		;
	return pid == 0;
}

static int is_background_refused(struct context *c)
{
	return has_background_process() && parameter_u64(c, "background", 0) == 0;
}

/* Runs the command of prepare= or cleanup=, if given; `what` names it in messages. */
static void run_shell(struct context *c, const char *key, const char *what)
{
	const char *text = parameter(c, key, NULL);
	if (text == NULL)
		return;
	char *argv[] = {"/bin/sh", "-c", (char *)text, NULL};
	set_untimed_files(c, "/dev/null");
	execute(c, argv[0], argv);
	find_command(c); /* it may have installed another */
	char begin[64];
	snprintf(begin, sizeof begin, "%s: ", what);
	if (has_failed())
		fail_with_output(c, key, begin);
	if (is_background_refused(c))
		failed_because(c, "background", "%s leaves a process running, beside which it would be timed", what);
	posix_spawn_file_actions_destroy(&actions);
}

static void prepare(struct context *c, uint64_t n)
{
	(void)n;
	number_execution(c);
	run_shell(c, "prepare", "the command before each execution");
	set_command_files(c);
}

static void run(struct context *c, uint64_t n, uint64_t *check)
{
	(void)n;
	(void)check;
	execute(c, program, command_line(c));
}

static void finish(struct context *c, uint64_t n, uint64_t *check)
{
	if (is_background_refused(c))
		failed_because(c, "background", "it leaves a process running, whose work is not in its time");
	check_status(c);
	posix_spawn_file_actions_destroy(&actions);
	note(c, "peak_kb", "%ld", used.ru_maxrss);
	run_shell(c, "cleanup", "the command after each execution");
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
