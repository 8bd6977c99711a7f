/* A database server for one launch: data in the launch's directory `server`, in namespaces that end with its last process.
 *
 * As root, the launch runs the server under the account of its package, with the launch's directory mounted over the package's data
 * directory, so that it does not see the system's own server. Otherwise it runs as the user. System V shared memory and /dev/shm are
 * private to the server, and vanish even if all of its processes are killed. The supervisor reaps these processes, which are its
 * descendants.
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

enum { SERVER_TIMEOUT_S = 60, SERVER_POLL_US = 10000 };
#define SERVER_DIR "server"
#define SERVER_LOG SERVER_DIR "/log"

static const struct passwd *server_account; /* NULL: not root */
static const char *server_home; /* mount point of the server's directory if root */
static pid_t server_pid;

/* Returns 0 after skip(). */
static int find_account(struct context *c, const char *account, const char *home)
{
	server_account = NULL;
	server_home = home;
	if (geteuid() != 0 || (server_account = getpwnam(account)) != NULL)
		return 1;
	skip(c, "The server is not executed as root, and the account %s of its package is missing.", account);
	return 0;
}

/* Returns 0 on failure. */
static int create_server_dir(struct context *c, const char *account, const char *home)
{
	if (!find_account(c, account, home))
		return 0;
	if (mkdir(SERVER_DIR, 0700) != 0 ||
	    (server_account != NULL && chown(SERVER_DIR, server_account->pw_uid, server_account->pw_gid) != 0)) {
		failed(c, "mkdir");
		return 0;
	}
	return 1;
}

static int write_file(const char *path, const char *format, ...) __attribute__((format(printf, 2, 3)));
static int write_file(const char *path, const char *format, ...)
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

/* Enters mount and IPC namespaces (without root in a user namespace, which permits the others), and the server's directory. Returns the
 * failed call, or NULL. */
static const char *enter_namespaces(void)
{
	const uid_t user = geteuid();
	const gid_t group = getegid();
	if (unshare(CLONE_NEWNS | CLONE_NEWIPC | (server_account == NULL ? CLONE_NEWUSER : 0)) != 0)
		return "unshare";
	if (server_account == NULL && (!write_file("/proc/self/setgroups", "deny") || !write_file("/proc/self/uid_map", "%u %u 1", user, user) ||
				       !write_file("/proc/self/gid_map", "%u %u 1", group, group)))
		return "uid_map";
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0)
		return "mount";
	if (mount("tmpfs", "/dev/shm", "tmpfs", MS_NOSUID | MS_NODEV, "mode=1777") != 0 && errno != ENOENT)
		return "mount";
	if (server_account == NULL)
		return chdir(SERVER_DIR) != 0 ? "chdir" : NULL;
	if (mount(SERVER_DIR, server_home, NULL, MS_BIND, NULL) != 0 || chdir(server_home) != 0)
		return "mount";
	if (setgroups(0, NULL) != 0 || setgid(server_account->pw_gid) != 0 || setuid(server_account->pw_uid) != 0)
		return "setuid";
	return NULL;
}

/* Starts a program in the server's directory, with the launch's lifetime. Returns its pid, or -1. */
static pid_t spawn_in_namespaces(struct context *c, char *const *argv)
{
	static char *const environment[] = {"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C", "TZ=UTC", NULL};
	const pid_t parent = getpid();
	int log = open(SERVER_LOG, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	pid_t pid = log >= 0 ? fork() : -1;
	if (pid == 0) {
		const char *refused = enter_namespaces();
		prctl(PR_SET_PDEATHSIG, SIGQUIT); /* after setuid(2), which clears it */
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

static const char *last_log_line(void)
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

/* Reports a failure. Returns whether the program succeeded. */
static int check_exit(struct context *c, const char *what, int status)
{
	if (WIFEXITED(status) && WEXITSTATUS(status) == 126)
		skip(c, "Namespaces for the server are not permitted here (%s): run Gritstone as root, with CAP_SYS_ADMIN.", last_log_line());
	else if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
		failed_because(c, what, "it exited: %s", last_log_line());
	return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* Runs a program to its end. Returns 0 on failure. */
static int run_in_namespaces(struct context *c, const char *what, char *const *argv)
{
	int status = 0;
	pid_t pid = spawn_in_namespaces(c, argv);
	return pid > 0 && waitpid(pid, &status, 0) == pid && check_exit(c, what, status);
}

/* Reports a failure. */
static int server_is_alive(struct context *c)
{
	int status;
	if (waitpid(server_pid, &status, WNOHANG) == 0)
		return 1;
	server_pid = 0;
	if (check_exit(c, "server", status))
		failed_because(c, "server", "it exited: %s", last_log_line());
	return 0;
}

/* Orderly shutdown by a signal. */
static void stop_server(struct context *c, int signal)
{
	int status = 0;
	if (server_pid <= 0)
		return;
	kill(server_pid, signal);
	for (int waited = 0; waitpid(server_pid, &status, WNOHANG) == 0; waited++) {
		if (waited == SERVER_TIMEOUT_S * 1000000 / SERVER_POLL_US) {
			failed_because(c, "server", "it did not stop within %d s", SERVER_TIMEOUT_S);
			return;
		}
		usleep(SERVER_POLL_US);
	}
	check_exit(c, "server", status);
	server_pid = 0;
}

#endif
