/* Programs of the machine that copy files, and the servers that they need, for net/transfer: scp with an sshd, rsync with its daemon, curl with
 * Python's server of HTTP, cp on a file system that sshfs mounts. A server runs at the far end alone, with files and keys in the directory of the
 * launch, and listens on that end's address. What sshfs mounts is seen by this process alone, and gone with it.
 */
#ifndef GRITSTONE_NET_SERVERS_H
#define GRITSTONE_NET_SERVERS_H

#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include "ends.h"

enum by { OURS, SCP, RSYNC, HTTP, SSHFS };
enum { MOST_ARGUMENTS = 24, FUSE_MAGIC = 0x65735546 };

static enum by by;
static in_port_t server_port;
static pid_t server, mounter;
static int from_far; /* the file comes from there */
static char directory[PATH_MAX];      /* of the launch */
static char secret[2 * TOKEN + 1];    /* the token in digits */
static const char *const sent = "sent"; /* the file that is copied */

static inline void hex_token(void)
{
	for (int i = 0; i < TOKEN; i++)
		snprintf(secret + 2 * i, 3, "%02x", token[i]);
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

/* The environment of a program: nothing but the secret, where it takes one. */
static inline char **environment(void)
{
	static char variable[64];
	static char *with[] = {variable, NULL}, *without[] = {NULL};
	snprintf(variable, sizeof variable, "%s=%s", by == OURS ? "TOKEN" : "RSYNC_PASSWORD", secret);
	return by == OURS || by == RSYNC ? with : without;
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
	int refused = posix_spawn(&pid, argv[0], &actions, NULL, (char *const *)(uintptr_t)argv, environment());
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
		execve(argv[0], (char *const *)(uintptr_t)argv, environment());
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

/* Keys of this launch alone; before there is a far end, for both. */
static inline int make_keys(struct context *c)
{
	static const char *const names[] = {"host-key", "user-key"};
	for (int i = 0; i < 2; i++) {
		const char *const argv[] = {parameter(c, "ssh-keygen", "ssh-keygen"), "-q", "-t", "ed25519", "-N", "", "-C", "", "-f", names[i], NULL};
		if (!runs_well(argv, "ssh-keygen.log")) {
			failed_because(c, "ssh-keygen", "it makes no key: %s", said_in("ssh-keygen.log"));
			return 0;
		}
	}
	return 1;
}

/* A port of the far end that is free; the network is its own, so that nobody else takes it meanwhile. */
static inline in_port_t free_port(void)
{
	in_port_t port = 0;
	int s = socket_at(1, SOCK_STREAM, &port);
	if (s < 0)
		complain("it has no port: %s", strerror(errno));
	close(s);
	return port;
}

/* sshd does not start without an empty directory that its service makes. Where that does not run, it is made where nobody else sees it. */
static inline void start_sshd(struct context *c, const char *port)
{
	char program[PATH_MAX];
	if (access("/run/sshd", F_OK) != 0 &&
	    (unshare(CLONE_NEWNS) != 0 || !shell("mount --make-rprivate / && mount -t tmpfs none /run && mkdir -m 755 /run/sshd")))
		complain("there is no /run/sshd, and it cannot be made in a mount namespace");
	snprintf(program, sizeof program, "%s", parameter(c, "sshd", "/usr/sbin/sshd"));
	if (!has_written("sshd.conf",
			 "ListenAddress %s\nPort %s\nHostKey %s/host-key\nAuthorizedKeysFile %s/user-key.pub\nPidFile none\nStrictModes no\n"
			 "UsePAM no\nPasswordAuthentication no\nKbdInteractiveAuthentication no\nPermitRootLogin prohibit-password\nPermitUserRC no\n"
			 "AllowTcpForwarding no\nX11Forwarding no\nSubsystem sftp internal-sftp\nForceCommand internal-sftp\n",
			 hosts[1], port, directory, directory))
		complain("it cannot write sshd.conf: %s", strerror(errno));
	const char *const argv[] = {program, "-D", "-e", "-f", "sshd.conf", NULL};
	server = start_tied(argv, "server.log");
}

static inline void start_rsyncd(struct context *c, const char *port)
{
	char address[64], at_port[32];
	snprintf(address, sizeof address, "--address=%s", hosts[1]);
	snprintf(at_port, sizeof at_port, "--port=%s", port);
	/* what is in the directory is the user's: the daemon writes as who started it */
	if (!has_written("rsyncd.conf",
			 "log file = %s/rsyncd.log\nuse chroot = no\nuid = %u\ngid = %u\n[received]\npath = %s/received\nread only = no\nauth users = run\nsecrets file = %s/secrets\n",
			 directory, geteuid(), getegid(), directory, directory) ||
	    !has_written("secrets", "run:%s\n", secret))
		complain("it cannot write rsyncd.conf: %s", strerror(errno));
	const char *const argv[] = {parameter(c, "rsync", "rsync"), "--daemon", "--no-detach", "--config=rsyncd.conf", address, at_port, NULL};
	server = start_tied(argv, "server.log");
}

/* The file is in a directory that has the token for a name. */
static inline void start_http(struct context *c, const char *port)
{
	const char *const argv[] = {parameter(c, "http", "python3"), "-m", "http.server", "--bind", hosts[1], "--directory", "served", port, NULL};
	server = start_tied(argv, "server.log");
}

/* Starts the server that is needed, and waits until it takes connections; its port. */
static inline in_port_t start_server(struct context *c)
{
	static void (*const starts[])(struct context *, const char *) = {NULL, start_sshd, start_rsyncd, start_http, start_sshd};
	in_port_t port = free_port();
	char text[16];
	snprintf(text, sizeof text, "%u", ntohs(port));
	starts[by](c, text);
	struct sockaddr_storage address;
	socklen_t length = address_of(1, port, &address);
	for (int i = 0; i < PATIENCE_S * 100 && server > 0; i++) {
		int s = new_socket(SOCK_STREAM);
		int takes = connect(s, (struct sockaddr *)&address, length) == 0;
		close(s);
		if (takes)
			return port;
		if (waitpid(server, NULL, WNOHANG) != 0)
			break;
		const struct timespec span = {0, 10000000};
		nanosleep(&span, NULL);
	}
	complain("the server of the program does not start: %s", said_in("server.log"));
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

/* Mounts the directory of the launch as the far end has it, for this process and those that it starts. */
static inline int mount_far(struct context *c)
{
	static char host[PATH_MAX + 64], port[16], key[PATH_MAX + 64], known[PATH_MAX + 64], ssh[PATH_MAX + 64];
	struct statfs mounted;
	snprintf(host, sizeof host, "root@%s:%s", hosts[1], directory);
	snprintf(port, sizeof port, "%u", ntohs(server_port));
	snprintf(key, sizeof key, "IdentityFile=%s/user-key", directory);
	snprintf(known, sizeof known, "UserKnownHostsFile=%s/known-hosts", directory);
	snprintf(ssh, sizeof ssh, "ssh_command=%s -F none", parameter(c, "ssh", "ssh"));
	const char *const argv[] = {parameter(c, "sshfs", "sshfs"), "-f", "-o", ssh, "-o", key, "-o", known, "-o", "GlobalKnownHostsFile=none", "-o",
				    "IdentitiesOnly=yes", "-o", "IdentityAgent=none", "-o", "BatchMode=yes", "-p", port, host, "mounted", NULL};
	if (mkdir("mounted", 0700) != 0 || unshare(CLONE_NEWNS) != 0 || !shell("mount --make-rprivate /")) {
		skip(c, "a mount namespace cannot be made, in which sshfs mounts: %s", strerror(errno));
		return 0;
	}
	mounter = start_tied(argv, "sshfs.log");
	for (int i = 0; i < PATIENCE_S * 100 && mounter > 0 && waitpid(mounter, NULL, WNOHANG) == 0; i++) {
		const struct timespec span = {0, 10000000};
		if (statfs("mounted", &mounted) == 0 && mounted.f_type == FUSE_MAGIC)
			return 1;
		nanosleep(&span, NULL);
	}
	failed_because(c, "sshfs", "it mounts nothing: %s", said_in("sshfs.log"));
	return 0;
}

/* What a user would type to copy the file, under a name of digits. */
static inline void copy_command(struct context *c, const char *name, const char **argv)
{
	static char port[16], to[PATH_MAX + 64], from[128], hosts_file[PATH_MAX + 64];
	int n = 0;
	snprintf(port, sizeof port, "%u", ntohs(server_port));
	switch (by) {
	case OURS:
		argv[n++] = parameter(c, "net/copy", "copy");
		argv[n++] = sent;
		argv[n++] = name;
		argv[n++] = over == VETH ? hosts[1] : "127.0.0.1";
		argv[n++] = port;
		break;
	case SCP:
		snprintf(hosts_file, sizeof hosts_file, "UserKnownHostsFile=%s/known-hosts", directory);
		snprintf(to, sizeof to, "root@%s:%s/received/%s", hosts[1], directory, name);
		for (const char *const *word = (const char *const[]){parameter(c, "scp", "scp"), "-q", "-F", "none", "-S", parameter(c, "ssh", "ssh"), "-i",
								     "user-key", "-o", "IdentitiesOnly=yes", "-o", "IdentityAgent=none", "-o", "BatchMode=yes",
								     "-o", "GlobalKnownHostsFile=none", "-o", hosts_file, "-P", port, sent, to, NULL};
		     *word != NULL; word++)
			argv[n++] = *word;
		break;
	case RSYNC:
		snprintf(to, sizeof to, "rsync://run@%s:%s/received/%s", hosts[1], port, name);
		argv[n++] = parameter(c, "rsync", "rsync");
		argv[n++] = "--whole-file";
		argv[n++] = sent;
		argv[n++] = to;
		break;
	case HTTP:
		snprintf(from, sizeof from, "http://%s:%s/%s/%s", hosts[1], port, secret, sent);
		snprintf(to, sizeof to, "received/%s", name);
		for (const char *const *word = (const char *const[]){parameter(c, "curl", "curl"), "-q", "-sS", "--fail", "--noproxy", "*", "-o", to, from, NULL};
		     *word != NULL; word++)
			argv[n++] = *word;
		break;
	case SSHFS:
		snprintf(from, sizeof from, "%s%s", from_far ? "mounted/" : "", sent);
		snprintf(to, sizeof to, "%sreceived/%s", from_far ? "" : "mounted/", name);
		argv[n++] = parameter(c, "cp", "cp");
		argv[n++] = from;
		argv[n++] = to;
		break;
	}
	argv[n] = NULL;
}

#endif
