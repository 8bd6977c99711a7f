/* Client and server of a network benchmark: the client is this process (the near end in parameters), the server (far end) a fork of it.
 *
 * Parameter over=: veth, two network namespaces (runtime/hosts.h); loopback, one private network namespace; unix, UNIX sockets; peer, the
 * existing network, with the server on another host (peer.h). rate_mbit=, delay_ms= and loss_percent= shape the egress of both hosts by
 * tc(8), and loss by nft(8) where the kernel has no netem. Every connection, and the first datagram, begins with a token created for the
 * launch: the server rejects everything else, reports the error and exits. Nothing blocks longer than TIMEOUT_S seconds. The server's error
 * becomes the launch's.
 */
#ifndef GRITSTONE_NET_ENDPOINTS_H
#define GRITSTONE_NET_ENDPOINTS_H

#include <errno.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>

#include "../runtime/hosts.h"
#include "../runtime/kernel.h"

enum { TOKEN = 16, TIMEOUT_S = 10, BACKLOG = 64, REPORT_BYTES = 1024 };
enum over { VETH, LOOPBACK, UNIX, PEER };
enum pipe_end { READ_END, WRITE_END };

static enum over over;
static unsigned char token[TOKEN];
static pid_t server_pid;
static int report_pipe[2]; /* from the server */
static struct sockaddr_storage peer_address; /* with over=peer */
static const char *peer_host;
static int segment; /* TCP_MAXSEG; 0: default */
static uint64_t rate_mbit, delay_ms, loss_percent;

/* Message from the server, written atomically: a listening port, with facts for its clients (text); or port 0 and the reason for its exit. */
struct report {
	in_port_t port;
	uint16_t is_skip; /* a requirement is missing: skip, not failure */
	char text[REPORT_BYTES - sizeof(in_port_t) - sizeof(uint16_t)];
};

/* Server: exits with an error message. */
#define server_fail(...) server_exit(0, __VA_ARGS__)
/* Server: exits; the launch is skipped. */
#define server_skip(...) server_exit(1, __VA_ARGS__)
__attribute__((noreturn, format(printf, 2, 3))) static inline void server_exit(uint16_t is_skip, const char *why, ...)
{
	struct report report = {.is_skip = is_skip};
	va_list rest;
	va_start(rest, why);
	vsnprintf(report.text, sizeof report.text, why, rest);
	va_end(rest);
	_exit(write(report_pipe[WRITE_END], &report, sizeof report) == sizeof report ? 1 : 2);
}

/* Server: sends a port and a text to the client. */
static inline void announce(in_port_t port, const char *text)
{
	struct report report = {.port = port};
	size_t length = strlen(text);
	if (length >= sizeof report.text)
		server_fail("the description of a server is too long");
	memcpy(report.text, text, length);
	if (write(report_pipe[WRITE_END], &report, sizeof report) != sizeof report)
		server_fail("the client has closed the pipe");
}

static inline void announce_port(in_port_t port)
{
	announce(port, "");
}

/* Client: reads the next report. Returns 0 at the end, -1 after a timeout. */
static inline int read_report(struct report *report, int ms)
{
	for (size_t got = 0; got < sizeof *report;) {
		struct pollfd polled = {.fd = report_pipe[READ_END], .events = POLLIN};
		if (poll(&polled, 1, ms) <= 0) {
			errno = EAGAIN;
			return -1;
		}
		ssize_t n = read(report_pipe[READ_END], (char *)report + got, sizeof *report - got);
		if (n <= 0)
			return 0;
		got += (size_t)n;
	}
	report->text[sizeof report->text - 1] = '\0';
	return 1;
}

static inline void server_ended(struct context *c, const struct report *last)
{
	if (last != NULL && last->is_skip)
		skip(c, "on the server: %s", last->text);
	else
		failed_because(c, "far_end", "the server has exited%s%s", last != NULL ? ": " : "", last != NULL ? last->text : "");
}

/* Client, after a failure: if the server has exited, its error becomes the launch's. */
static inline int server_has_failed(struct context *c)
{
	struct report report;
	int read_status;
	while ((read_status = read_report(&report, over == PEER ? 2000 : 200)) > 0 && report.port != 0)
		; /* skip ports */
	if (read_status >= 0)
		server_ended(c, read_status > 0 ? &report : NULL);
	return read_status >= 0;
}

/* Client: a call has failed, possibly because the server has exited. */
static inline void call_failed(struct context *c, const char *call)
{
	int error = errno;
	if (server_has_failed(c))
		return;
	errno = error;
	if (error == EAGAIN || error == EINPROGRESS)
		failed_because(c, call, "no progress for %d s", TIMEOUT_S);
	else
		failed(c, call);
}

static inline uint64_t cpu_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Address of the server (1) or the client (0). */
static inline socklen_t address_of(int which, in_port_t port, struct sockaddr_storage *address)
{
	if (over == PEER) {
		*address = peer_address;
		((struct sockaddr_in *)(void *)address)->sin_port = port; /* sin6_port has the same offset */
		return peer_address.ss_family == AF_INET ? sizeof(struct sockaddr_in) : sizeof(struct sockaddr_in6);
	}
	if (over == UNIX) {
		struct sockaddr_un *local = (void *)address;
		*local = (struct sockaddr_un){.sun_family = AF_UNIX};
		snprintf(local->sun_path, sizeof local->sun_path, "end-%d", which);
		return sizeof *local;
	}
	*(struct sockaddr_in *)(void *)address = ipv4_address(over == VETH ? hosts[which] : "127.0.0.1", port);
	return sizeof(struct sockaddr_in);
}

/* Accepted TCP sockets inherit these from the listener. */
static inline int set_timeouts(int s)
{
	const struct timeval timeout = {.tv_sec = TIMEOUT_S};
	return setsockopt(s, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout) == 0 &&
	       setsockopt(s, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof timeout) == 0 &&
	       (segment == 0 || setsockopt(s, IPPROTO_TCP, TCP_MAXSEG, &segment, sizeof segment) == 0);
}

static inline int new_socket(int type)
{
	int family = over == PEER ? peer_address.ss_family : over == UNIX ? AF_UNIX : AF_INET;
	int s = socket(family, type | SOCK_CLOEXEC, 0);
	return s >= 0 && set_timeouts(s) ? s : -1;
}

static inline int set_nodelay(int s, int on)
{
	return over == UNIX || setsockopt(s, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) == 0;
}

/* Binds a socket to an ephemeral port. Returns -1 on failure. */
static inline int bind_socket(int which, int type, in_port_t *port)
{
	struct sockaddr_storage address;
	socklen_t length = address_of(which, 0, &address);
	int s = new_socket(type);
	if (s < 0 || bind(s, (struct sockaddr *)&address, length) != 0 || getsockname(s, (struct sockaddr *)&address, &length) != 0)
		return -1;
	*port = ((struct sockaddr_in *)(void *)&address)->sin_port;
	return s;
}

/* With over=peer, connect(2) chooses the local address. */
static inline int client_datagram_socket(void)
{
	in_port_t port;
	return over == PEER ? new_socket(SOCK_DGRAM) : bind_socket(0, SOCK_DGRAM, &port);
}

/* Server: opens a socket and announces its port with a text. */
static inline int open_server_socket_with(int type, const char *text)
{
	in_port_t port;
	int s = bind_socket(1, type, &port);
	if (s < 0 || (type == SOCK_STREAM && listen(s, BACKLOG) != 0))
		server_fail("cannot open a socket: %s", strerror(errno));
	announce(port, text);
	return s;
}

static inline int open_server_socket(int type)
{
	return open_server_socket_with(type, "");
}

/* Returns 0 at the end of the stream and on failure. */
static inline int recv_all(int s, void *to, size_t size)
{
	for (size_t got = 0; got < size;) {
		ssize_t n = recv(s, (char *)to + got, size - got, 0);
		if (n == 0)
			errno = ECONNRESET;
		if (n <= 0)
			return 0;
		got += (size_t)n;
	}
	return 1;
}

static inline int send_all(int s, const void *from, size_t size)
{
	for (size_t sent = 0; sent < size;) {
		ssize_t n = send(s, (const char *)from + sent, size - sent, MSG_NOSIGNAL);
		if (n <= 0)
			return 0;
		sent += (size_t)n;
	}
	return 1;
}

static inline void check_token(const unsigned char *received_token)
{
	unsigned difference = 0;
	for (int i = 0; i < TOKEN; i++)
		difference |= received_token[i] ^ token[i];
	if (difference != 0)
		server_fail("a connection did not start with the token of this launch");
}

/* Server: accepts a connection and checks its token. */
static inline int accept_connection(int listener)
{
	unsigned char received_token[TOKEN];
	struct pollfd polled = {.fd = listener, .events = POLLIN};
	int s = poll(&polled, 1, TIMEOUT_S * 1000) == 1 ? accept4(listener, NULL, NULL, SOCK_CLOEXEC) : -1;
	if (s < 0)
		server_fail("no connection within %d s", TIMEOUT_S);
	/* UNIX sockets do not inherit the timeouts */
	if (!set_timeouts(s) || !recv_all(s, received_token, sizeof received_token))
		server_fail("a connection was closed, or idle for %d s, before its token was complete", TIMEOUT_S);
	check_token(received_token);
	return s;
}

/* Connects and sends the token. Returns -1 on failure. */
static inline int connect_server(struct context *c, in_port_t port)
{
	struct sockaddr_storage address;
	socklen_t length = address_of(1, port, &address);
	int s = new_socket(SOCK_STREAM);
	if (s >= 0 && connect(s, (struct sockaddr *)&address, length) == 0 && send_all(s, token, sizeof token))
		return s;
	call_failed(c, "connect");
	return -1;
}

/* Shapes the egress of an interface. Returns 0 on failure. */
static inline int shape(const char *interface)
{
	char text[400];
	if (rate_mbit > 0) {
		snprintf(text, sizeof text, "tc qdisc add dev %s root handle 1: tbf rate %umbit burst 128kb latency 50ms", interface, (unsigned)rate_mbit);
		if (!shell(text))
			return 0;
	}
	if (delay_ms == 0 && loss_percent == 0)
		return 1;
	snprintf(text, sizeof text, "tc qdisc add dev %s %s netem delay %ums loss %u%%", interface, rate_mbit > 0 ? "parent 1:1" : "root",
		 (unsigned)delay_ms, (unsigned)loss_percent);
	if (shell(text))
		return 1;
	if (delay_ms > 0)
		return 0;
	snprintf(text, sizeof text,
		 "nft add table inet loss && nft 'add chain inet loss out { type filter hook output priority 0; }' && "
		 "nft add rule inet loss out numgen random mod 100 '<' %u drop",
		 (unsigned)loss_percent);
	return shell(text);
}

static inline _Noreturn void run_server(int ready, int go, void (*serve)(void))
{
	char byte = 0;
	if (over == VETH && (unshare(CLONE_NEWNET) != 0 || write(ready, &byte, 1) != 1 || read(go, &byte, 1) != 1 || !configure_second_host()))
		_exit(1);
	if (over == VETH && !shape("transfer2"))
		server_fail("cannot shape its traffic");
	if (over == VETH && write(ready, &byte, 1) != 1)
		_exit(1);
	close(ready);
	close(go);
	serve();
	_exit(0);
}

static inline void parse_network(struct context *c)
{
	static const char *const names[] = {"veth", "loopback", "unix", "peer"};
	const char *network_name = parameter(c, "over", "");
	while (over <= PEER && strcmp(network_name, names[over]) != 0)
		over++;
	if (over > PEER)
		wrong_arguments(c, "over=%s is not veth, loopback, unix or peer", network_name);
	rate_mbit = parameter_u64(c, "rate_mbit", 0);
	delay_ms = parameter_u64(c, "delay_ms", 0);
	loss_percent = parameter_u64(c, "loss_percent", 0);
	if ((rate_mbit | delay_ms | loss_percent) != 0 && (over != VETH || rate_mbit > 1000000 || delay_ms > 10000 || loss_percent > 99))
		wrong_arguments(c, "rate_mbit= is up to 1000000, delay_ms= to 10000, loss_percent= to 99, with over=veth");
	segment = (int)parameter_u64(c, "mss", 0);
	if (segment != 0 && (over == UNIX || segment < 88 || segment > 32767))
		wrong_arguments(c, "mss= is from 88 to 32767, for TCP");
}

#include "peer.h"

/* Returns 0 on failure. */
static inline int make_token(struct context *c)
{
	ssize_t n = is_server(c) ? read(STDIN_FILENO, token, sizeof token) : getrandom(token, sizeof token, 0);
	if (n == sizeof token)
		return 1;
	failed_because(c, "token", "cannot read one: %s", n < 0 ? strerror(errno) : "short read");
	return 0;
}

/* Creates the network, and the server in it. Returns 0 on failure. */
static inline int start_server(struct context *c, void (*serve)(void))
{
	int ready[2], go[2];
	char byte = 0;
	parse_network(c);
	signal(SIGPIPE, SIG_IGN);
	prctl(PR_SET_CHILD_SUBREAPER, 1); /* reaps the server's children */
	if (over == PEER)
		return start_peer_server(c, serve);
	if (pipe2(report_pipe, O_CLOEXEC) != 0 || pipe2(ready, O_CLOEXEC) != 0 || pipe2(go, O_CLOEXEC) != 0) {
		failed(c, "pipe");
		return 0;
	}
	if (over != UNIX && !unshare_network()) {
		skip(c, NO_VETH_REASON);
		return 0;
	}
	if (over == LOOPBACK && !shell("ip link set lo up")) {
		skip(c, "the loopback interface of a network namespace cannot be set up: that takes ip(8) (apt-get install iproute2)");
		return 0;
	}
	server_pid = fork_peer(c);
	if (server_pid == 0)
		run_server(ready[WRITE_END], go[READ_END], serve);
	close(ready[WRITE_END]);
	close(go[READ_END]);
	close(report_pipe[WRITE_END]);
	int joined = over != VETH || (server_pid > 0 && read(ready[READ_END], &byte, 1) == 1 && join_hosts(server_pid) &&
				      write(go[WRITE_END], &byte, 1) == 1 && read(ready[READ_END], &byte, 1) == 1);
	close(ready[READ_END]);
	close(go[WRITE_END]);
	if (server_pid < 0)
		failed(c, "fork");
	else if (!joined)
		skip(c, NO_VETH_REASON);
	int shaped = over != VETH || shape("transfer1");
	if (!shaped)
		skip(c, "traffic cannot be shaped: that takes tc(8) with tbf and netem, or nft(8) for loss alone (apt-get install iproute2 nftables)");
	return server_pid > 0 && joined && shaped;
}

/* Waits for the server to announce a port. Returns 0 on failure, and if the server exits. */
static inline int await_announcement(struct context *c, struct report *report)
{
	int read_status = read_report(report, 3 * TIMEOUT_S * 1000);
	if (read_status < 0)
		call_failed(c, "port");
	else if (read_status == 0 || report->port == 0)
		server_ended(c, read_status > 0 ? report : NULL);
	return read_status > 0 && report->port != 0;
}

static inline int await_port(struct context *c, in_port_t *port)
{
	struct report report;
	int ok = await_announcement(c, &report);
	*port = ok ? report.port : 0;
	return ok;
}

static inline void stop_server(struct context *c)
{
	if (server_pid > 0 && kill(server_pid, SIGKILL) != 0)
		failed(c, "kill");
	if (over == PEER)
		close(report_pipe[READ_END]); /* the agent on the peer then ends the server */
	while (wait(NULL) > 0)
		;
}

/* CPU time of both sides and elapsed time, summed over all regions. */
static struct work {
	uint64_t operations, wall_ns, client_ns, server_ns;
} work;

static inline void add_work(uint64_t operations, uint64_t wall_ns, uint64_t client_ns, uint64_t server_ns)
{
	work.operations += operations;
	work.wall_ns += wall_ns;
	work.client_ns += client_ns;
	work.server_ns += server_ns;
}

/* CPU time of each side per operation, and as a share of one CPU. */
static inline void note_cpu_time(struct context *c)
{
	const uint64_t ns[] = {work.client_ns, work.server_ns};
	if (work.operations == 0 || work.wall_ns == 0)
		return;
	note(c, "ends_wall_ns", "%llu", (unsigned long long)work.wall_ns);
	for (int i = 0; i < 2; i++) {
		note(c, i == 0 ? "near_cpu_ns" : "far_cpu_ns", "%.3f", (double)ns[i] / (double)work.operations);
		note(c, i == 0 ? "near_cpu_share" : "far_cpu_share", "%.6f", (double)ns[i] / (double)work.wall_ns);
	}
}

#endif
