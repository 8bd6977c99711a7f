/* The job that a child of kernel/process executes: where it is, its environment, and whether it can be executed here. */
#ifndef GRITSTONE_JOB_H
#define GRITSTONE_JOB_H

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../runtime/kernel.h"

#define MOST_TRIES 1000 /* of a millisecond each */

extern char **environ;

static char *job, *arguments[] = {NULL, NULL}, **environment;

/* The environment with one variable more, which takes env= bytes with its end. */
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

/* The errno of an attempt, 0 when the job was executed. */
static int try_once(struct context *c)
{
	volatile int error = 0; /* the child works in our memory until it has executed the job */
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

/* Takes the job that job= names, `family/name`, and which stands beside it as `family/name=PATH`; none without job=. The
 * first time is untimed and tells why it cannot be executed. */
static void take_job(struct context *c)
{
	const char *name = parameter(c, "job", NULL);
	if (name == NULL)
		return;
	job = arguments[0] = (char *)parameter(c, name, NULL);
	if (job == NULL)
		wrong_arguments(c, "there is no %s=PATH for job=%s", name, name);
	enlarge_environment(c);
#if !defined __x86_64__ && !defined __aarch64__ && !(defined __riscv && __riscv_xlen == 64)
	if (strstr(name, "-job-") == NULL)
		note(c, "stand_in", "The job has a C library: there is no other startup for this processor (kernels/kernel/crt0.h).");
#endif
	errno = try_once(c);
	/* whoever wrote it a moment ago may have forked with it open: busy until that child executes something */
	for (int i = 0; errno == ETXTBSY && i < MOST_TRIES; i++) {
		usleep(1000);
		errno = try_once(c);
	}
	if (errno == ENOENT && access(job, X_OK) == 0)
		skip(c, "The program %s asks for a loader that is not on this machine: build Gritstone here.", name);
	else if (errno != 0)
		failed(c, "execve");
}

#endif
