/* The program that a child of kernel/process executes: path, environment, trial execution. */
#ifndef GRITSTONE_JOB_H
#define GRITSTONE_JOB_H

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../runtime/kernel.h"

#define MAX_TRIES 1000 /* of a millisecond each */

extern char **environ;

static char *job, *arguments[] = {NULL, NULL}, **environment;

/* Adds a variable of env= bytes, including its terminator. */
static void enlarge_environment(struct context *c)
{
	static const char name[] = "MORE=";
	size_t bytes = (size_t)parameter_u64(c, "env", 0), count = 0;
	environment = environ;
	if (bytes < sizeof name)
		return;
	while (environ[count] != NULL)
		count++;
	environment = malloc((count + 2) * sizeof *environment);
	char *more = malloc(bytes);
	if (environment == NULL || more == NULL) {
		failed(c, "malloc");
		return;
	}
	memset(more, 'x', bytes - 1);
	memcpy(more, name, sizeof name - 1);
	more[bytes - 1] = '\0';
	memcpy(environment, environ, count * sizeof *environment);
	environment[count] = more;
	environment[count + 1] = NULL;
}

/* Returns 0, or the errno of execve(2). */
static int try_job(struct context *c)
{
	volatile int error = 0; /* set by the child in shared memory */
	pid_t pid = vfork();
	if (pid == 0) {
		execve(job, arguments, environment);
		error = errno;
		_exit(127);
	}
	if (pid < 0 || waitpid(pid, NULL, 0) != pid)
		failed(c, "vfork");
	return error;
}

/* job= is `family/name`, and a further parameter `family/name=PATH`; without job= children exit at once. A trial execution, untimed,
 * detects failures. */
static void setup_job(struct context *c)
{
	const char *name = parameter(c, "job", NULL);
	if (name == NULL)
		return;
	job = arguments[0] = (char *)parameter(c, name, NULL);
	if (job == NULL)
		wrong_arguments(c, "%s=PATH is missing for job=%s", name, name);
	enlarge_environment(c);
#if !defined __x86_64__ && !defined __aarch64__ && !(defined __riscv && __riscv_xlen == 64)
	if (strstr(name, "-job-") == NULL)
		note(c, "stand_in", "The job has a C library, since kernels/kernel/crt0.h does not support this processor.");
#endif
	errno = try_job(c);
	/* the process that wrote it may have forked with the file open: busy until that child calls exec */
	for (int i = 0; errno == ETXTBSY && i < MAX_TRIES; i++) {
		usleep(1000);
		errno = try_job(c);
	}
	if (errno == ENOENT && access(job, X_OK) == 0)
		skip(c, "The program loader that %s requires is missing on this machine: build Gritstone here.", name);
	else if (errno != 0)
		failed(c, "execve");
}

#endif
