/* kernel/forks, kernel/vforks, kernel/execs, kernel/vexecs and today's methods: creating a process, and waiting for its end (hp-1987, table
 * 4.3).
 *
 * One operation creates one child by how=fork, vfork, clone3-vfork or posix-spawn, which exits at once or executes job=, a program that
 * exits at once, and waits for it. Before, the parent grows by grow= bytes of sbrk() and touches them. env= adds bytes to the environment.
 * The reference workload is 1,000 operations.
 *
 * fork is the system call itself: a library's fork() does more. A child that cannot execute its job exits with 127, and any exit status but
 * 0 fails the launch, so that no failing exec is timed.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <spawn.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../runtime/kernel.h"
#include "clone3.h"
#include "job.h"

#ifndef NAME
#define NAME "kernel/process"
#endif

static pid_t (*make)(void);

static _Noreturn void child(void)
{
	if (job == NULL)
		_exit(0);
	execve(job, arguments, environment);
	_exit(127);
}

static pid_t by_fork(void)
{
#ifdef SYS_fork
	pid_t pid = (pid_t)syscall(SYS_fork);
#else
	pid_t pid = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
#endif
	if (pid == 0)
		child();
	return pid;
}

static pid_t by_vfork(void)
{
	pid_t pid = vfork();
	if (pid == 0)
		child();
	return pid;
}

static pid_t by_clone3(void)
{
	return clone3_vfork(child);
}

static pid_t by_spawn(void)
{
	pid_t pid;
	errno = posix_spawn(&pid, job, NULL, NULL, arguments, environment);
	return errno == 0 ? pid : -1;
}

static void parse_how(struct context *c)
{
	static const struct {
		const char *name;
		pid_t (*make)(void);
	} methods[] = {{"fork", by_fork}, {"vfork", by_vfork}, {"clone3-vfork", by_clone3}, {"posix-spawn", by_spawn}};
	const char *how = parameter(c, "how", "");
	for (size_t i = 0; i < sizeof methods / sizeof *methods; i++)
		if (strcmp(how, methods[i].name) == 0)
			make = methods[i].make;
	if (make == NULL || (make == by_spawn && job == NULL))
		wrong_arguments(c, "unknown how=%s, or posix-spawn without job=", how);
}

static void grow(struct context *c)
{
	size_t bytes = (size_t)parameter_u64(c, "grow", 0), page = (size_t)sysconf(_SC_PAGESIZE);
	volatile char *memory = sbrk((intptr_t)bytes);
	if (memory == (void *)-1) {
		failed(c, "sbrk");
		return;
	}
	for (size_t offset = 0; offset < bytes; offset += page)
		memory[offset] = 1;
	if (bytes > 0)
		memory[bytes - 1] = 1;
}

static void run(struct context *c, uint64_t n, uint64_t *check)
{
	for (uint64_t i = 0; i < n; i++) {
		int status;
		pid_t pid = make();
		if (pid < 0) {
			failed(c, parameter(c, "how", ""));
			return;
		}
		if (waitpid(pid, &status, 0) != pid) {
			failed(c, "waitpid");
			return;
		}
		if (status != 0) {
			failed_because(c, job != NULL ? "execve" : "_exit", "a child ended with status %#x%s", (unsigned)status,
				status == 127 << 8 ? ": it could not execute its job" : "");
			return;
		}
		++*check;
	}
}

static uint64_t expect(struct context *c, uint64_t n)
{
	(void)c;
	return n;
}

static void setup(struct context *c)
{
	setup_job(c);
	parse_how(c);
	grow(c);
	if (make != by_clone3)
		return;
	pid_t pid = make();
	if (pid < 0 && (errno == ENOSYS || errno == EPERM))
		skip(c, "clone3() is not available: it takes Linux 5.3 or later, an x86-64 or ARM processor, and a container that permits it.");
	else if (pid < 0 || waitpid(pid, NULL, 0) != pid)
		failed(c, "clone3");
}

const struct kernel kernel = {
	.name = NAME,
	.setup = setup,
	.run = run,
	.expect = expect,
	.children = CHILDREN_TOO,
};
