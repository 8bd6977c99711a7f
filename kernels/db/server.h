/* A server for one launch: its data in the directory `server` of the launch, in namespaces that end with its last process.
 *
 * Where we are root it is executed as the account of its package. The directory in which the package keeps its data is, for the server alone, that
 * of the launch: others of its kind that the system has are out of its sight. Otherwise it is executed as the user. Shared memory, that of
 * System V and that in /dev/shm, is the server's alone and goes with it, even when all of its processes are killed; who they are is the business of the
 * supervisor, whose descendants they are.
 */
#ifndef GRITSTONE_DB_SERVER_H
#define GRITSTONE_DB_SERVER_H

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine.h"

enum { SERVER_PATIENCE_S = 60, SERVER_LOOK_US = 10000 };
#define SERVER_ROOM "server"
#define SERVER_LOG SERVER_ROOM "/log"

static const struct passwd *server_account; /* NULL: we are not root */
static const char *server_home;             /* what is the server's directory for it where we are */
static pid_t server_pid;

/* Finds out as whom the server is executed, and below which directory its package keeps data. Whether that is known. */
static int find_account(struct context *c, const char *account, const char *home)
{
	server_account = NULL;
	server_home = home;
	if (geteuid() != 0 || (server_account = getpwnam(account)) != NULL)
		return 1;
	skip(c, "The server is not executed as root, and the account %s of its package is missing.", account);
	return 0;
}

/* Makes the directory of the server. Whether it is there. */
static int make_room(struct context *c, const char *account, const char *home)
{
	if (!find_account(c, account, home))
		return 0;
	if (mkdir(SERVER_ROOM, 0700) != 0 ||
	    (server_account != NULL && chown(SERVER_ROOM, server_account->pw_uid, server_account->pw_gid) != 0)) {
		failed(c, "mkdir");
		return 0;
	}
	return 1;
}

static int put(const char *path, const char *format, ...) __attribute__((format(printf, 2, 3)));
static int put(const char *path, const char *format, ...)
{
	char text[64];
	va_list arguments;
	va_start(arguments, format);
	int length = vsnprintf(text, sizeof text, format, arguments);
	va_end(arguments);
	int file = open(path, O_WRONLY | O_CLOEXEC), written = file >= 0 && write(file, text, (size_t)length) == length;
	close(file);
	return written;
}

/* Namespaces of mounts and of shared memory, and where we are not root of users, which allows the others; ends in the server's directory.
 * What was refused, or NULL. */
static const char *enter_room(void)
{
	const uid_t user = geteuid();
	const gid_t group = getegid();
	if (unshare(CLONE_NEWNS | CLONE_NEWIPC | (server_account == NULL ? CLONE_NEWUSER : 0)) != 0)
		return "unshare";
	if (server_account == NULL && (!put("/proc/self/setgroups", "deny") || !put("/proc/self/uid_map", "%u %u 1", user, user) ||
				       !put("/proc/self/gid_map", "%u %u 1", group, group)))
		return "uid_map";
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0)
		return "mount";
	if (mount("tmpfs", "/dev/shm", "tmpfs", MS_NOSUID | MS_NODEV, "mode=1777") != 0 && errno != ENOENT)
		return "mount";
	if (server_account == NULL)
		return chdir(SERVER_ROOM) != 0 ? "chdir" : NULL;
	if (mount(SERVER_ROOM, server_home, NULL, MS_BIND, NULL) != 0 || chdir(server_home) != 0)
		return "mount";
	if (setgroups(0, NULL) != 0 || setgid(server_account->pw_gid) != 0 || setuid(server_account->pw_uid) != 0)
		return "setuid";
	return NULL;
}

/* Executes a program of the server in its directory, which ends when we do. Its process, or -1. */
static pid_t execute_in_room(struct context *c, char *const *argv)
{
	static char *const environment[] = {"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C", "TZ=UTC", NULL};
	const pid_t parent = getpid();
	int log = open(SERVER_LOG, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	pid_t pid = log >= 0 ? fork() : -1;
	if (pid == 0) {
		const char *refused = enter_room();
		prctl(PR_SET_PDEATHSIG, SIGQUIT); /* after the change of user, which takes it back */
		if (refused == NULL && getppid() == parent && dup2(log, 1) >= 0 && dup2(log, 2) >= 0)
			execve(argv[0], argv, environment);
		dprintf(log, "%s: %s\n", refused != NULL ? refused : argv[0], strerror(errno));
		_exit(refused != NULL ? 126 : 127);
	}
	if (pid < 0)
		failed(c, "fork");
	close(log);
	return pid;
}

/* The last line that the server has said. */
static const char *last_words(void)
{
	static char text[2048];
	int file = open(SERVER_LOG, O_RDONLY | O_CLOEXEC);
	off_t size = lseek(file, 0, SEEK_END);
	ssize_t length = size > 0 ? pread(file, text, sizeof text - 1, size > (off_t)sizeof text - 1 ? size - (off_t)sizeof text + 1 : 0) : 0;
	close(file);
	while (length > 0 && text[length - 1] == '\n')
		length--;
	text[length > 0 ? length : 0] = '\0';
	const char *last = strrchr(text, '\n');
	return last != NULL ? last + 1 : text;
}

/* How a program of the server has ended, said where it is not well. Whether it is. */
static int ended_well(struct context *c, const char *what, int status)
{
	if (WIFEXITED(status) && WEXITSTATUS(status) == 126)
		skip(c, "Namespaces for the server are refused here (%s): execute Gritstone as root, with CAP_SYS_ADMIN.", last_words());
	else if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
		failed_because(c, what, "it ended: %s", last_words());
	return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* Executes a program of the server until it ends. Whether it ended well. */
static int finish_in_room(struct context *c, const char *what, char *const *argv)
{
	int status = 0;
	pid_t pid = execute_in_room(c, argv);
	return pid > 0 && waitpid(pid, &status, 0) == pid && ended_well(c, what, status);
}

/* Whether the server that was started has not ended; says so. */
static int server_lives(struct context *c)
{
	int status;
	if (waitpid(server_pid, &status, WNOHANG) == 0)
		return 1;
	server_pid = 0;
	if (ended_well(c, "server", status))
		failed_because(c, "server", "it ended: %s", last_words());
	return 0;
}

/* Stops the server by a signal, at which it disconnects everybody and ends in order. */
static void stop_server(struct context *c, int signal)
{
	int status = 0;
	if (server_pid <= 0)
		return;
	kill(server_pid, signal);
	for (int waited = 0; waitpid(server_pid, &status, WNOHANG) == 0; waited++) {
		if (waited == SERVER_PATIENCE_S * 1000000 / SERVER_LOOK_US) {
			failed_because(c, "server", "it did not stop within %d s", SERVER_PATIENCE_S);
			return;
		}
		usleep(SERVER_LOOK_US);
	}
	ended_well(c, "server", status);
	server_pid = 0;
}

#endif
