/* Programs of the machine that a launch starts: with nothing of the environment but what it gives them, what they say in a file of the launch. A
 * server runs at the far end, in a directory of that end, listens on its address alone, and ends with it.
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
static pid_t server;
static char directory[PATH_MAX];   /* of this end */
static char secret[2 * TOKEN + 1]; /* the token in digits */

static inline void hex_token(void)
{
	for (int i = 0; i < TOKEN; i++)
		snprintf(secret + 2 * i, 3, "%02x", token[i]);
}

/* Of the far end: below the directory of the launch where both ends are on one machine. */
static inline void enter_own_directory(void)
{
	if (mkdir("far", 0700) != 0 || chdir("far") != 0 || getcwd(directory, sizeof directory) == NULL)
		complain("it cannot make a directory: %s", strerror(errno));
}

static inline const char *far_text(void)
{
	return over == PEER ? far_host : hosts[1];
}

/* The address of the far end as it stands before a port. */
static inline const char *far_before_port(void)
{
	static char text[INET6_ADDRSTRLEN + 2];
	snprintf(text, sizeof text, strchr(far_text(), ':') != NULL ? "[%s]" : "%s", far_text());
	return text;
}

/* Of the far end: a program of that machine, which is where the other one has it, or where programs are. */
static inline const char *far_program(struct context *c, const char *parameter_name, const char *usual, const char *package)
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
	lacks("%s is missing (apt-get install %s)", name, package);
}

/* A small file with what one process alone may read; whether it was written. */
static inline int has_written(const char *path, const char *format, ...) __attribute__((format(printf, 2, 3)));
static inline int has_written(const char *path, const char *format, ...)
{
	va_list rest;
	va_start(rest, format);
	int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	int well = file >= 0 && vdprintf(file, format, rest) > 0;
	va_end(rest);
	if (file >= 0)
		close(file);
	return well;
}

/* A small file in text; nothing of one that cannot be read. */
static inline void read_text(const char *path, char *text, size_t size)
{
	int file = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = file >= 0 ? read(file, text, size - 1) : -1;
	text[n > 0 ? n : 0] = '\0';
	if (file >= 0)
		close(file);
}

/* Starts a program; what it says goes into a file. */
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

/* The same for one that works on and ends with this process. */
static inline pid_t start_tied(const char *const *argv, const char *said)
{
	pid_t parent = getpid(), pid = fork();
	if (pid != 0)
		return pid;
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC), log = open(said, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && getppid() == parent && dup2(null, 0) == 0 && dup2(log, 1) == 1 && dup2(log, 2) == 2)
		execve(argv[0], (char *const *)(uintptr_t)argv, environment);
	dprintf(log, "cannot execute %s: %s\n", argv[0], strerror(errno));
	_exit(127);
}

/* The end of what a program has said, on one line, for a message. */
static inline const char *said_in(const char *log)
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

static inline int runs_well(const char *const *argv, const char *log)
{
	int status;
	pid_t pid = start_program(argv, log);
	return pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* A port of the far end that is free. Where somebody else takes it meanwhile, which nobody does in a network of its own, the server does not start. */
static inline in_port_t free_port(void)
{
	in_port_t port = 0;
	int s = socket_at(1, SOCK_STREAM, &port);
	if (s < 0)
		complain("it has no port: %s", strerror(errno));
	close(s);
	return port;
}

/* Waits until the server takes connections. */
static inline void await_server(in_port_t port)
{
	struct sockaddr_storage address;
	socklen_t length = address_of(1, port, &address);
	for (int i = 0; i < PATIENCE_S * 100 && server > 0; i++) {
		int s = new_socket(SOCK_STREAM);
		int takes = connect(s, (struct sockaddr *)&address, length) == 0;
		close(s);
		if (takes)
			return;
		if (waitpid(server, NULL, WNOHANG) != 0)
			break;
		const struct timespec span = {0, 10000000};
		nanosleep(&span, NULL);
	}
	complain("the server of the program does not start: %s", said_in("server.log"));
}

/* Python's server of HTTP, for what is below `served`, which it does not list. */
static inline void start_python(struct context *c, const char *port, const char *log)
{
	if (!has_written("served/index.html", "\n"))
		complain("it cannot write index.html: %s", strerror(errno));
	const char *const argv[] = {far_program(c, "http", "python3", "python3"), "-m", "http.server", "--bind", far_text(), "--directory", "served", port, NULL};
	server = start_tied(argv, log);
}

/* CPU time of a process, of its children that have ended, and of all that live; in whole ticks of the system; 0 of none. */
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
