/* Continuous file transfer between two hosts (runtime/hosts.h), in any number of streams each way.
 *
 * A stream has a server process, which accepts connections and writes received data to a file, and a client process, which sends a file of
 * 4 MB in pieces of 8 KB. The server replies with the number of written bytes, which must equal the file size. */
#ifndef GRITSTONE_LOAD_TRANSFER_H
#define GRITSTONE_LOAD_TRANSFER_H

#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "../runtime/cpus.h"
#include "../runtime/hosts.h"
#include "load_program.h"

#define BYTES (4u << 20)
#define PIECE 8192
#define HOSTS_UNAVAILABLE 75

static _Atomic uint64_t *files_sent; /* by all streams */

static pid_t fork_tied(void)
{
	pid_t parent = getpid(), pid = fork();
	if (pid < 0)
		exit_with(FAILED, "fork: %s", strerror(errno));
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != parent)
			_exit(1);
	}
	return pid;
}

/* Listens on an ephemeral port. */
static int open_listener(const char *host, in_port_t *port)
{
	struct sockaddr_in address = ipv4_address(host, 0);
	socklen_t length = sizeof address;
	int s = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (s < 0 || bind(s, (struct sockaddr *)&address, length) != 0 || listen(s, 1) != 0 ||
	    getsockname(s, (struct sockaddr *)&address, &length) != 0)
		exit_with(FAILED, "cannot listen on %s: %s", host, strerror(errno));
	*port = address.sin_port;
	return s;
}

/* `name` is the stream's. */
static _Noreturn void serve(int s, const char *name)
{
	static char piece[PIECE];
	char path[32];
	snprintf(path, sizeof path, "received%s", name);
	for (;;) {
		int from = accept(s, NULL, NULL), file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
		uint64_t received = 0;
		ssize_t n;
		if (from < 0 || file < 0)
			exit_with(FAILED, "cannot receive: %s", strerror(errno));
		while ((n = read(from, piece, sizeof piece)) > 0) {
			if (write(file, piece, (size_t)n) != n)
				exit_with(FAILED, "cannot write a received file: %s", strerror(errno));
			received += (uint64_t)n;
		}
		if (write(from, &received, sizeof received) != sizeof received)
			exit_with(FAILED, "cannot send a reply: %s", strerror(errno));
		close(file);
		close(from);
	}
}

/* All streams share a counter, which the first one reports. */
static _Noreturn void send_files(const char *host, in_port_t port, const char *name, int first)
{
	static char piece[PIECE];
	char path[32];
	snprintf(path, sizeof path, "sent%s", name);
	int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	for (unsigned i = 0; i < BYTES / PIECE; i++)
		if (file < 0 || write(file, piece, sizeof piece) != sizeof piece)
			exit_with(SKIPPED, "cannot write a file of 4 MB: %s; choose another directory with --dir", strerror(errno));
	for (;;) {
		struct sockaddr_in address = ipv4_address(host, port);
		uint64_t received = 0;
		ssize_t n;
		int to = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
		if (to < 0 || connect(to, (struct sockaddr *)&address, sizeof address) != 0 || lseek(file, 0, SEEK_SET) != 0)
			exit_with(FAILED, "cannot connect to %s: %s", host, strerror(errno));
		while ((n = read(file, piece, sizeof piece)) > 0)
			if (write(to, piece, (size_t)n) != n)
				exit_with(FAILED, "cannot send: %s", strerror(errno));
		shutdown(to, SHUT_WR);
		if (read(to, &received, sizeof received) != sizeof received || received != BYTES)
			exit_with(FAILED, "%llu of %u bytes arrived", (unsigned long long)received, BYTES);
		close(to);
		++*files_sent;
		if (first)
			report_progress(*files_sent, "files of 4 MB");
	}
}

/* Streams from the view of the first host; pinned: the other host runs on the first permitted CPU. */
struct traffic {
	int out, in, pinned;
};

static void share_counter(void)
{
	files_sent = mmap(NULL, sizeof *files_sent, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (files_sent == MAP_FAILED)
		exit_with(FAILED, "mmap: %s", strerror(errno));
}

static void pin_to_one_cpu(void)
{
	static int cpus[NR_CPUS];
	if (permitted_cpus(cpus) > 0)
		pin_to_cpu(cpus[0]);
}

/* Serves some streams and sends others. Exits with the status of the first process that ends. */
static _Noreturn void run_host(int s, int serves, int sends, const char *other, in_port_t port, char letter)
{
	int status;
	for (int i = 0; i < serves + sends; i++) {
		char name[16];
		snprintf(name, sizeof name, "-%c%d", letter, i);
		if (fork_tied() != 0)
			continue;
		if (i < serves)
			serve(s, name);
		send_files(other, port, name, letter == 'a' ? i == serves : i == serves && serves == 0);
	}
	_exit(wait(&status) > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : FAILED);
}

/* Exits with HOSTS_UNAVAILABLE if they cannot be created. */
static _Noreturn void create_hosts(struct traffic traffic)
{
	int ready[2], go[2];
	char byte = 0;
	in_port_t port[2];
	if (!unshare_network() || pipe(ready) != 0 || pipe(go) != 0)
		_exit(HOSTS_UNAVAILABLE);
	pid_t other = fork_tied();
	if (other == 0) {
		if (unshare(CLONE_NEWNET) != 0 || write(ready[1], &byte, 1) != 1 || read(go[0], &port[0], sizeof *port) != sizeof *port)
			_exit(HOSTS_UNAVAILABLE);
		if (!configure_second_host())
			_exit(HOSTS_UNAVAILABLE);
		if (traffic.pinned)
			pin_to_one_cpu();
		int s = open_listener(hosts[1], &port[1]);
		if (write(ready[1], &port[1], sizeof *port) != sizeof *port)
			_exit(HOSTS_UNAVAILABLE);
		run_host(s, traffic.out, traffic.in, hosts[0], port[0], 'b');
	}
	close(ready[1]);
	if (read(ready[0], &byte, 1) != 1)
		_exit(HOSTS_UNAVAILABLE);
	if (!join_hosts(other))
		_exit(HOSTS_UNAVAILABLE);
	int s = open_listener(hosts[0], &port[0]);
	if (write(go[1], &port[0], sizeof *port) != sizeof *port || read(ready[0], &port[1], sizeof *port) != sizeof *port)
		_exit(HOSTS_UNAVAILABLE);
	run_host(s, traffic.in, traffic.out, hosts[1], port[1], 'a');
}

/* Runs the two hosts in a child. Returns only if they cannot be created. */
static int run_two_hosts(struct traffic traffic)
{
	int status;
	pid_t pid = fork_tied();
	if (pid == 0)
		create_hosts(traffic);
	if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status) || WEXITSTATUS(status) != HOSTS_UNAVAILABLE)
		_exit(FAILED);
	return 1;
}

#endif
