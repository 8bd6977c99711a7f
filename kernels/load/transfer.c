/* Files that go from one host to another without pause: what level 4 of the loads of hp-1987, section 5, adds. The hosts are two
 * network namespaces joined by a pair of virtual interfaces. They have no names and are gone with their processes. Where
 * they may not be made, the file goes over the loopback interface of this host, and `stand_in` says so and why.
 *
 * One process serves: it takes connections and writes what comes into a file. The other sends: it reads a file of 4 MB in pieces
 * of 8 KB. The server answers with the number of bytes that it has written, which must be that of the file. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "part.h"

#define BYTES (4u << 20)
#define PIECE 8192
#define NO_HOSTS 75

static const char *const hosts[] = {"10.213.7.1", "10.213.7.2"};

/* Gives commands of ip(8) to the shell, which looks for it where root's tools are before it looks on PATH; whether they ended well. */
static int shell(const char *commands)
{
	char line[512];
	snprintf(line, sizeof line, "PATH=/usr/sbin:/sbin:/usr/bin:/bin:$PATH; exec 2>/dev/null; %s", commands);
	return system(line) == 0;
}

static int writes(const char *path, const char *text)
{
	int file = open(path, O_WRONLY | O_CLOEXEC);
	int well = file >= 0 && write(file, text, strlen(text)) == (ssize_t)strlen(text);
	if (file >= 0)
		close(file);
	return well;
}

/* A network of this process alone; without root, as the root of a user namespace. */
static int alone(void)
{
	char map[64];
	unsigned user = geteuid(), group = getegid();
	if (unshare(CLONE_NEWNET) == 0)
		return 1;
	if (unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0)
		return 0;
	snprintf(map, sizeof map, "0 %u 1", user);
	if (!writes("/proc/self/uid_map", map))
		return 0;
	snprintf(map, sizeof map, "0 %u 1", group);
	return writes("/proc/self/setgroups", "deny") && writes("/proc/self/gid_map", map);
}

static pid_t fork_tied(void)
{
	pid_t parent = getpid(), pid = fork();
	if (pid < 0)
		leave(FAILS, "fork: %s", strerror(errno));
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != parent)
			_exit(1);
	}
	return pid;
}

static struct sockaddr_in at(const char *host, in_port_t port)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = port};
	inet_pton(AF_INET, host, &address.sin_addr);
	return address;
}

/* A socket that listens on `host`; its port by the way. */
static int listens(const char *host, in_port_t *port)
{
	struct sockaddr_in address = at(host, 0);
	socklen_t length = sizeof address;
	int s = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (s < 0 || bind(s, (struct sockaddr *)&address, length) != 0 || listen(s, 1) != 0 ||
	    getsockname(s, (struct sockaddr *)&address, &length) != 0)
		leave(FAILS, "cannot listen on %s: %s", host, strerror(errno));
	*port = address.sin_port;
	return s;
}

static void serve(int s)
{
	static char piece[PIECE];
	for (;;) {
		int from = accept(s, NULL, NULL), file = open("received", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
		uint64_t received = 0;
		ssize_t n;
		if (from < 0 || file < 0)
			leave(FAILS, "cannot receive: %s", strerror(errno));
		while ((n = read(from, piece, sizeof piece)) > 0) {
			if (write(file, piece, (size_t)n) != n)
				leave(FAILS, "cannot write what was received: %s", strerror(errno));
			received += (uint64_t)n;
		}
		if (write(from, &received, sizeof received) != sizeof received)
			leave(FAILS, "cannot answer: %s", strerror(errno));
		close(file);
		close(from);
	}
}

static void send_files(const char *host, in_port_t port)
{
	static char piece[PIECE];
	int file = open("sent", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	for (unsigned i = 0; i < BYTES / PIECE; i++)
		if (file < 0 || write(file, piece, sizeof piece) != sizeof piece)
			leave(CANNOT, "cannot write a file of 4 MB: %s; choose another directory with --dir", strerror(errno));
	for (uint64_t done = 1;; done++) {
		struct sockaddr_in address = at(host, port);
		uint64_t received = 0;
		ssize_t n;
		int to = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
		if (to < 0 || connect(to, (struct sockaddr *)&address, sizeof address) != 0 || lseek(file, 0, SEEK_SET) != 0)
			leave(FAILS, "cannot connect to %s: %s", host, strerror(errno));
		while ((n = read(file, piece, sizeof piece)) > 0)
			if (write(to, piece, (size_t)n) != n)
				leave(FAILS, "cannot send: %s", strerror(errno));
		shutdown(to, SHUT_WR);
		if (read(to, &received, sizeof received) != sizeof received || received != BYTES)
			leave(FAILS, "%llu of %u bytes arrived", (unsigned long long)received, BYTES);
		close(to);
		progress(done, "files of 4 MB");
	}
}

/* The two hosts; NO_HOSTS when they cannot be made. The first serves, and its child, the second, sends. */
static void two_hosts(void)
{
	int ready[2], go[2];
	char text[256], byte = 0;
	in_port_t port;
	if (!alone() || pipe(ready) != 0 || pipe(go) != 0)
		_exit(NO_HOSTS);
	pid_t other = fork_tied();
	if (other == 0) {
		if (unshare(CLONE_NEWNET) != 0 || write(ready[1], &byte, 1) != 1 || read(go[0], &port, sizeof port) != sizeof port)
			_exit(NO_HOSTS);
		snprintf(text, sizeof text, "ip addr add %s/30 dev transfer2 && ip link set transfer2 up", hosts[1]);
		if (!shell(text))
			_exit(NO_HOSTS);
		send_files(hosts[0], port);
	}
	close(ready[1]);
	if (read(ready[0], &byte, 1) != 1)
		_exit(NO_HOSTS);
	snprintf(text, sizeof text,
		 "ip link add transfer1 type veth peer name transfer2 netns %d && ip addr add %s/30 dev transfer1 && "
		 "ip link set transfer1 up",
		 (int)other, hosts[0]);
	if (!shell(text))
		_exit(NO_HOSTS);
	int s = listens(hosts[0], &port);
	if (write(go[1], &port, sizeof port) != sizeof port)
		_exit(NO_HOSTS);
	pid_t server = fork_tied();
	if (server == 0)
		serve(s);
	int status;
	pid_t first = wait(&status);
	_exit(first == other && WIFEXITED(status) ? WEXITSTATUS(status) : FAILS);
}

int main(void)
{
	int status;
	in_port_t port;
	pid_t hosts_pid = fork_tied();
	if (hosts_pid == 0)
		two_hosts();
	if (waitpid(hosts_pid, &status, 0) != hosts_pid || !WIFEXITED(status) || WEXITSTATUS(status) != NO_HOSTS)
		return FAILS;
	int note = open("stand_in", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	int told = dprintf(note, "The files of load level 4 went over the loopback interface and not between two hosts: two network "
		      "namespaces joined by veth could not be made, which takes root or user namespaces, and ip(8) (apt-get install iproute2).\n");
	if (note < 0 || told < 0)
		leave(FAILS, "cannot write to stand_in: %s", strerror(errno));
	int s = listens("127.0.0.1", &port);
	if (fork_tied() == 0)
		serve(s);
	send_files("127.0.0.1", port);
}
