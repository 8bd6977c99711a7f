/* A command of the user's, timed as a process: what `gritstone ab` compares. It answers no table.
 *
 * One operation is one process from before it is made to after it is reaped, as time(1) sees it, with a parent as small
 * as time(1) itself. It stands where the user stands, has the user's environment, and prints and leaves what it likes.
 * Its output goes to memory: some programs do less when they see /dev/null, and a pipe would be read by us meanwhile.
 * Parameters: prepare=, cleanup= a command for the shell, untimed, before and after each time; ignore_failure=1 takes any
 * exit status for good. Peak memory (peak_kb) is at least what this process had when it started the command, about 1 MB.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kernel.h"

#define OUTPUT ((off_t)1 << 30) /* bytes: what prints without end must not fill the memory until its deadline */
#define COMPLAINT 200

extern char **environ;

static posix_spawn_file_actions_t actions;
static int out = -1, err = -1;
static int status;
static struct rusage used;

static void setup(struct context *c)
{
	if (command_line(c)[0] == NULL)
		wrong_arguments(c, "there is no command after --");
	if (prctl(PR_SET_CHILD_SUBREAPER, 1) != 0) /* so that we know of processes that outlive the command */
		failed(c, "prctl");
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

static void execute(struct context *c, char **argv)
{
	pid_t pid;
	int error = posix_spawnp(&pid, argv[0], &actions, NULL, argv, environ);
	if (error != 0) {
		failed_because(c, "command", "%s cannot be started: %s", argv[0], strerror(error));
		return;
	}
	while (wait4(pid, &status, 0, &used) != pid)
		if (errno != EINTR) {
			failed(c, "wait4");
			return;
		}
}

/* Whether it ended well; if not, that is the end of the launch. */
static void judge(struct context *c, const char *call, const char *name, int any_status)
{
	char said[COMPLAINT + 1];
	ssize_t length = pread(err, said, COMPLAINT, 0);
	said[length > 0 ? length : 0] = '\0';
	size_t end = strlen(said);
	while (end > 0 && (said[end - 1] == '\n' || said[end - 1] == ' '))
		said[--end] = '\0';
	const char *saying = end > 0 ? "; it said: " : "";
	if (WIFSIGNALED(status))
		failed_because(c, call, "%s was killed by signal %d%s%s", name, WTERMSIG(status), saying, said);
	else if (WEXITSTATUS(status) != 0 && !any_status)
		failed_because(c, call, "%s ended with status %d%s%s", name, WEXITSTATUS(status), saying, said);
}

static void fresh_files(struct context *c)
{
	out = memory_file(c, out);
	err = memory_file(c, err);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&actions, out, 1);
	posix_spawn_file_actions_adddup2(&actions, err, 2);
}

/* Whether a process is left that a command has started; those that have ended are waited for. We are who adopts them. */
static int is_anybody_left(void)
{
	pid_t pid;
	while ((pid = waitpid(-1, NULL, WNOHANG)) > 0)
		;
	return pid == 0;
}

/* The command that prepare= or cleanup= gives, if it does. */
static void shell(struct context *c, const char *key)
{
	const char *text = parameter(c, key, NULL);
	if (text == NULL)
		return;
	char *argv[] = {"/bin/sh", "-c", (char *)text, NULL};
	fresh_files(c);
	execute(c, argv);
	judge(c, key, text, 0);
	if (is_anybody_left())
		failed_because(c, key, "%s left a process behind, which would be there while the command is timed", text);
	posix_spawn_file_actions_destroy(&actions);
}

static void prepare(struct context *c, uint64_t n)
{
	(void)n;
	shell(c, "prepare");
	fresh_files(c);
}

static void run(struct context *c, uint64_t n, uint64_t *check)
{
	(void)n;
	(void)check;
	execute(c, command_line(c));
}

static void finish(struct context *c, uint64_t n, uint64_t *check)
{
	const char *name = command_line(c)[0];
	if (is_anybody_left())
		failed_because(c, "command", "%s ended before a process that it had started, whose work is not in its time",
			name);
	/* before it is judged: whoever reads why this failed learns that ignore_failure=1 would take it */
	if (WIFEXITED(status) && WEXITSTATUS(status) != 0)
		note(c, "status", "%d", WEXITSTATUS(status));
	judge(c, "command", name, parameter_u64(c, "ignore_failure", 0) != 0);
	posix_spawn_file_actions_destroy(&actions);
	note(c, "peak_kb", "%ld", used.ru_maxrss);
	shell(c, "cleanup");
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
