/* The login shell of a user. */
#ifndef GRITSTONE_MULTIUSER_SESSION_H
#define GRITSTONE_MULTIUSER_SESSION_H

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <unistd.h>

/* In a child of `parent`, on the slave side of the pty. The prompt shows the status of the previous command; the shell dies with its parent. */
static inline _Noreturn void exec_shell(const char *terminal, const char *directory, pid_t parent)
{
	const struct winsize size = {.ws_row = 24, .ws_col = 80};
	char home[4096];
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent || setsid() < 0 || chdir(directory) != 0)
		_exit(1);
	int fd = open(terminal, O_RDWR);
	if (fd < 0 || ioctl(fd, TIOCSCTTY, 0) != 0 || ioctl(fd, TIOCSWINSZ, &size) != 0)
		_exit(1);
	for (int i = 0; i < 3; i++)
		dup2(fd, i);
	if (fd > 2)
		close(fd);
	setenv("PS1", "[$?]> ", 1);
	setenv("TERM", "vt100", 1);
	setenv("HOME", getcwd(home, sizeof home) == NULL ? "/" : home, 1);
	setenv("LC_ALL", "C", 1);
	unsetenv("ENV");
	execl("/bin/sh", "sh", "-i", (char *)NULL);
	_exit(127);
}

#endif
