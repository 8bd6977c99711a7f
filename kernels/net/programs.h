/* Installed programs that a launch starts, with an environment of their own and their output in a log file. Daemons run on the server side,
 * in a directory of their own, listen on the server's address alone, and die with the server process.
 */
#ifndef GRITSTONE_NET_PROGRAMS_H
#define GRITSTONE_NET_PROGRAMS_H

#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <sys/stat.h>

#include "endpoints.h"

static char *nothing[] = {NULL};
static char **environment = nothing;
static pid_t daemon_pid;
static char directory[PATH_MAX];   /* of this side */
static char secret[2 * TOKEN + 1]; /* the token in hexadecimal */

static inline void hex_token(void)
{
	for (int i = 0; i < TOKEN; i++)
		snprintf(secret + 2 * i, 3, "%02x", token[i]);
}

/* Server: a subdirectory of the launch's directory if both sides are on one machine. */
static inline void enter_server_directory(void)
{
	if (mkdir("far", 0700) != 0 || chdir("far") != 0 || getcwd(directory, sizeof directory) == NULL)
		server_fail("cannot create a directory: %s", strerror(errno));
}

static inline const char *server_host(void)
{
	return over == PEER ? peer_host : hosts[1];
}

/* The server's address as it is written before a port. */
static inline const char *server_host_for_url(void)
{
	static char text[INET6_ADDRSTRLEN + 2];
	snprintf(text, sizeof text, strchr(server_host(), ':') != NULL ? "[%s]" : "%s", server_host());
	return text;
}

/* Server: the client's path of a program if it exists here too, else the first match in the usual directories. */
static inline const char *server_program(struct context *c, const char *parameter_name, const char *usual, const char *package)
{
	static const char *const places[] = {"/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"};
	static char path[PATH_MAX];
	const char *given = parameter(c, parameter_name, usual), *slash = strrchr(given, '/'), *name = slash != NULL ? slash + 1 : given;
	if (slash != NULL && access(given, X_OK) == 0)
		return given;
	for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
		snprintf(path, sizeof path, "%s/%s", places[i], name);
		if (access(path, X_OK) == 0)
			return path;
	}
	server_skip("%s is missing (apt-get install %s)", name, package);
}

/* Writes a file of mode 0600. Returns 0 on failure. */
static inline int write_text_file(const char *path, const char *format, ...) __attribute__((format(printf, 2, 3)));
static inline int write_text_file(const char *path, const char *format, ...)
{
	va_list rest;
	va_start(rest, format);
	int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	int ok = file >= 0 && vdprintf(file, format, rest) > 0;
	va_end(rest);
	if (file >= 0)
		close(file);
	return ok;
}

/* The text is empty on failure. */
static inline void read_text(const char *path, char *text, size_t size)
{
	int file = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = file >= 0 ? read(file, text, size - 1) : -1;
	text[n > 0 ? n : 0] = '\0';
	if (file >= 0)
		close(file);
}

static inline pid_t start_program(const char *const *argv, const char *log)
{
	posix_spawn_file_actions_t actions;
	pid_t pid;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_addopen(&actions, 1, log, O_WRONLY | O_CREAT | O_APPEND, 0600);
	posix_spawn_file_actions_adddup2(&actions, 1, 2);
	int refused = posix_spawn(&pid, argv[0], &actions, NULL, (char *const *)(uintptr_t)argv, environment);
	posix_spawn_file_actions_destroy(&actions);
	errno = refused;
	return refused == 0 ? pid : -1;
}

/* Starts a program that is killed when this process dies. */
static inline pid_t start_background(const char *const *argv, const char *log_path)
{
	pid_t parent = getpid(), pid = fork();
	if (pid != 0)
		return pid;
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC), log = open(log_path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && getppid() == parent && dup2(null, 0) == 0 && dup2(log, 1) == 1 && dup2(log, 2) == 2)
		execve(argv[0], (char *const *)(uintptr_t)argv, environment);
	dprintf(log, "cannot execute %s: %s\n", argv[0], strerror(errno));
	_exit(127);
}

/* The end of a log on one line, for a message. */
static inline const char *log_tail(const char *log)
{
	static char text[200];
	int file = open(log, O_RDONLY | O_CLOEXEC);
	off_t length = file >= 0 ? lseek(file, 0, SEEK_END) : 0;
	off_t from = length > (off_t)sizeof text - 1 ? length - (off_t)sizeof text + 1 : 0;
	ssize_t n = file >= 0 ? pread(file, text, sizeof text - 1, from) : 0;
	text[n > 0 ? n : 0] = '\0';
	for (char *c = text; *c != '\0'; c++)
		if (*c == '\n')
			*c = c[1] == '\0' ? '\0' : ' ';
	if (file >= 0)
		close(file);
	return text;
}

static inline int run_program(const char *const *argv, const char *log)
{
	int status;
	pid_t pid = start_program(argv, log);
	return pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* If another process takes the port before the daemon binds it (impossible in a private network namespace), the daemon does not start. */
static inline in_port_t free_port(void)
{
	in_port_t port = 0;
	int s = bind_socket(1, SOCK_STREAM, &port);
	if (s < 0)
		server_fail("no free port: %s", strerror(errno));
	close(s);
	return port;
}

/* Waits until the daemon accepts connections. */
static inline void await_daemon(in_port_t port)
{
	struct sockaddr_storage address;
	socklen_t length = address_of(1, port, &address);
	for (int i = 0; i < TIMEOUT_S * 100 && daemon_pid > 0; i++) {
		int s = new_socket(SOCK_STREAM);
		int accepts = connect(s, (struct sockaddr *)&address, length) == 0;
		close(s);
		if (accepts)
			return;
		if (waitpid(daemon_pid, NULL, WNOHANG) != 0)
			break;
		const struct timespec span = {0, 10000000};
		nanosleep(&span, NULL);
	}
	server_fail("the daemon does not start: %s", log_tail("server.log"));
}

/* Python's http.server for the directory `served`; the index page prevents a listing. */
static inline void start_python(struct context *c, const char *port, const char *log)
{
	if (!write_text_file("served/index.html", "\n"))
		server_fail("cannot write index.html: %s", strerror(errno));
	const char *const argv[] = {server_program(c, "http", "python3", "python3"), "-m", "http.server", "--bind", server_host(), "--directory", "served", port, NULL};
	daemon_pid = start_background(argv, log);
}

/* CPU time of a process with its reaped and its live children, to the clock tick; 0 if there is no such process. */
static inline uint64_t cpu_ns_of(pid_t pid)
{
	uint64_t children = 0;
	unsigned long long user = 0, system = 0;
	long long ended_user = 0, ended_system = 0;
	char path[64], text[1024];
	snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
	int file = pid > 0 ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	ssize_t n = file >= 0 ? read(file, text, sizeof text - 1) : 0;
	if (file >= 0)
		close(file);
	text[n > 0 ? n : 0] = '\0';
	const char *rest = strrchr(text, ')');
	if (rest != NULL)
		sscanf(rest + 1, " %*c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %llu %llu %lld %lld", &user, &system, &ended_user, &ended_system);
	snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)pid, (int)pid);
	FILE *list = pid > 0 ? fopen(path, "re") : NULL;
	for (int child; list != NULL && fscanf(list, "%d", &child) == 1;)
		children += cpu_ns_of(child);
	if (list != NULL)
		fclose(list);
	return children + (user + system + (uint64_t)(ended_user + ended_system)) * 1000000000u / (uint64_t)sysconf(_SC_CLK_TCK);
}

#endif
