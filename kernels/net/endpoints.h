/* The two ends of a network benchmark: this process, the near end, and one that it forks, the far end.
 *
 * Parameter over=: veth, two hosts (runtime/hosts.h); loopback, one network namespace that nobody else is in; unix, sockets of that family; peer,
 * the networks that there are, with the far end on another host (peer.h).
 * rate_mbit=, delay_ms= and loss_percent= shape what each host sends, by tc(8), and loss by nft(8) where the system has no netem.
 * Every connection, and the first request by datagram, begins with a token that is made for the launch: the far end takes nothing from anyone else,
 * complains, and ends. Nothing is waited for longer than PATIENCE_S seconds. What the far end complains of is what the launch fails with.
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

enum { TOKEN = 16, PATIENCE_S = 10, WAITING = 64, SAID = 1024 };
enum over { VETH, LOOPBACK, UNIX, PEER };
enum pipe_end { READS, WRITES };

static enum over over;
static unsigned char token[TOKEN];
static pid_t far_end;
static int says[2]; /* what the far end says */
static struct sockaddr_storage far_address; /* over a peer */
static const char *far_host;
static int segment; /* the most bytes of one, where that is asked for */
static uint64_t rate_mbit, delay_ms, loss_percent;

/* What the far end says in one write, between which nobody else's comes: a port at which it listens, with what a client must know of the server
 * there; or port 0, and why it ends. */
struct said {
	in_port_t port;
	uint16_t is_missing; /* something that is needed is not there: no failure */
	char text[SAID - sizeof(in_port_t) - sizeof(uint16_t)];
};

/* Of the far end: why it ends. */
#define complain(...) end_because(0, __VA_ARGS__)
/* The same where the launch is to be skipped. */
#define lacks(...) end_because(1, __VA_ARGS__)
__attribute__((noreturn, format(printf, 2, 3))) static inline void end_because(uint16_t is_missing, const char *why, ...)
{
	struct said said = {.is_missing = is_missing};
	va_list rest;
	va_start(rest, why);
	vsnprintf(said.text, sizeof said.text, why, rest);
	va_end(rest);
	_exit(write(says[WRITES], &said, sizeof said) == sizeof said ? 1 : 2);
}

/* Of the far end: the near end is to know a port, and a text. */
static inline void say_server(in_port_t port, const char *text)
{
	struct said said = {.port = port};
	size_t length = strlen(text);
	if (length >= sizeof said.text)
		complain("what it has to say of a server is too long");
	memcpy(said.text, text, length);
	if (write(says[WRITES], &said, sizeof said) != sizeof said)
		complain("nobody wants to know its port");
}

static inline void say_port(in_port_t port)
{
	say_server(port, "");
}

/* Of the near end: what the far end says next; 0 when it says no more, -1 when it says nothing for so long. */
static inline int hear_far(struct said *said, int ms)
{
	for (size_t got = 0; got < sizeof *said;) {
		struct pollfd comes = {.fd = says[READS], .events = POLLIN};
		if (poll(&comes, 1, ms) <= 0) {
			errno = EAGAIN;
			return -1;
		}
		ssize_t n = read(says[READS], (char *)said + got, sizeof *said - got);
		if (n <= 0)
			return 0;
		got += (size_t)n;
	}
	said->text[sizeof said->text - 1] = '\0';
	return 1;
}

static inline void far_has_ended(struct context *c, const struct said *last)
{
	if (last != NULL && last->is_missing)
		skip(c, "at the other end: %s", last->text);
	else
		failed_because(c, "far_end", "the other end has ended%s%s", last != NULL ? ": " : "", last != NULL ? last->text : "");
}

/* Of the near end, which has failed: whether the far end has ended, which the launch then fails with. */
static inline int has_complained(struct context *c)
{
	struct said said;
	int heard;
	while ((heard = hear_far(&said, over == PEER ? 2000 : 200)) > 0 && said.port != 0)
		; /* a port that is not needed any more */
	if (heard >= 0)
		far_has_ended(c, heard > 0 ? &said : NULL);
	return heard >= 0;
}

/* Of the near end: a call has failed, perhaps because the far end has ended. */
static inline void lost(struct context *c, const char *call)
{
	int error = errno;
	if (has_complained(c))
		return;
	errno = error;
	if (error == EAGAIN || error == EINPROGRESS)
		failed_because(c, call, "nothing came or went for %d s", PATIENCE_S);
	else
		failed(c, call);
}

/* CPU time of this process, ns. */
static inline uint64_t cpu_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* An address: where the far end listens (1), or where the near end is (0). */
static inline socklen_t address_of(int which, in_port_t port, struct sockaddr_storage *address)
{
	if (over == PEER) {
		*address = far_address;
		((struct sockaddr_in *)(void *)address)->sin_port = port; /* where that of IPv6 is, too */
		return far_address.ss_family == AF_INET ? sizeof(struct sockaddr_in) : sizeof(struct sockaddr_in6);
	}
	if (over == UNIX) {
		struct sockaddr_un *local = (void *)address;
		*local = (struct sockaddr_un){.sun_family = AF_UNIX};
		snprintf(local->sun_path, sizeof local->sun_path, "end-%d", which);
		return sizeof *local;
	}
	*(struct sockaddr_in *)(void *)address = at(over == VETH ? hosts[which] : "127.0.0.1", port);
	return sizeof(struct sockaddr_in);
}

/* Nobody is waited for longer; TCP sockets that are accepted have it from the one that listens. */
static inline int is_patient(int s)
{
	const struct timeval patience = {.tv_sec = PATIENCE_S};
	return setsockopt(s, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience) == 0 &&
	       setsockopt(s, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience) == 0 &&
	       (segment == 0 || setsockopt(s, IPPROTO_TCP, TCP_MAXSEG, &segment, sizeof segment) == 0);
}

static inline int new_socket(int type)
{
	int family = over == PEER ? far_address.ss_family : over == UNIX ? AF_UNIX : AF_INET;
	int s = socket(family, type | SOCK_CLOEXEC, 0);
	return s >= 0 && is_patient(s) ? s : -1;
}

static inline int without_delay(int s, int on)
{
	return over == UNIX || setsockopt(s, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) == 0;
}

/* A socket at the address of an end, at a port that the system chooses; -1 without one. */
static inline int socket_at(int which, int type, in_port_t *port)
{
	struct sockaddr_storage address;
	socklen_t length = address_of(which, 0, &address);
	int s = new_socket(type);
	if (s < 0 || bind(s, (struct sockaddr *)&address, length) != 0 || getsockname(s, (struct sockaddr *)&address, &length) != 0)
		return -1;
	*port = ((struct sockaddr_in *)(void *)&address)->sin_port;
	return s;
}

/* A socket for datagrams from the near end; of the address that leads to a peer, which is chosen where it is connected. */
static inline int near_datagrams(void)
{
	in_port_t port;
	return over == PEER ? new_socket(SOCK_DGRAM) : socket_at(0, SOCK_DGRAM, &port);
}

/* Of the far end: a socket of its own, of which the near end learns the port, and what a client must know. */
static inline int open_far_with(int type, const char *text)
{
	in_port_t port;
	int s = socket_at(1, type, &port);
	if (s < 0 || (type == SOCK_STREAM && listen(s, WAITING) != 0))
		complain("it cannot open a socket of its own: %s", strerror(errno));
	say_server(port, text);
	return s;
}

static inline int open_far(int type)
{
	return open_far_with(type, "");
}

/* All bytes, and no more; 0 at the end of the stream, or where a call fails. */
static inline int reads_all(int s, void *to, size_t size)
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

static inline int writes_all(int s, const void *from, size_t size)
{
	for (size_t sent = 0; sent < size;) {
		ssize_t n = send(s, (const char *)from + sent, size - sent, MSG_NOSIGNAL);
		if (n <= 0)
			return 0;
		sent += (size_t)n;
	}
	return 1;
}

static inline void check_token(const unsigned char *is)
{
	unsigned difference = 0;
	for (int i = 0; i < TOKEN; i++)
		difference |= is[i] ^ token[i];
	if (difference != 0)
		complain("a connection did not begin with the token of this launch");
}

/* Of the far end: the next connection, after its token. */
static inline int take_connection(int listener)
{
	unsigned char is[TOKEN];
	struct pollfd comes = {.fd = listener, .events = POLLIN};
	int s = poll(&comes, 1, PATIENCE_S * 1000) == 1 ? accept4(listener, NULL, NULL, SOCK_CLOEXEC) : -1;
	if (s < 0)
		complain("no connection came within %d s", PATIENCE_S);
	/* a UNIX socket has no patience from the one that listens */
	if (!is_patient(s) || !reads_all(s, is, sizeof is))
		complain("a connection ended, or was silent for %d s, before its token was there", PATIENCE_S);
	check_token(is);
	return s;
}

/* A connection to the far end that has said its token; -1 after a failure. */
static inline int connect_far(struct context *c, in_port_t port)
{
	struct sockaddr_storage address;
	socklen_t length = address_of(1, port, &address);
	int s = new_socket(SOCK_STREAM);
	if (s >= 0 && connect(s, (struct sockaddr *)&address, length) == 0 && writes_all(s, token, sizeof token))
		return s;
	lost(c, "connect");
	return -1;
}

/* Shapes what this host sends, over one of the interfaces; whether that could be done. */
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

/* The far end, until it serves or has no network. */
static inline _Noreturn void be_far_end(int ready, int go, void (*serve)(void))
{
	char byte = 0;
	if (over == VETH && (unshare(CLONE_NEWNET) != 0 || write(ready, &byte, 1) != 1 || read(go, &byte, 1) != 1 || !take_up()))
		_exit(1);
	if (over == VETH && !shape("transfer2"))
		complain("what it sends cannot be shaped");
	if (over == VETH && write(ready, &byte, 1) != 1)
		_exit(1);
	close(ready);
	close(go);
	serve();
	_exit(0);
}

static inline void read_way(struct context *c)
{
	static const char *const ways[] = {"veth", "loopback", "unix", "peer"};
	const char *way = parameter(c, "over", "");
	while (over <= PEER && strcmp(way, ways[over]) != 0)
		over++;
	if (over > PEER)
		wrong_arguments(c, "over=%s is not veth, loopback, unix or peer", way);
	rate_mbit = parameter_u64(c, "rate_mbit", 0);
	delay_ms = parameter_u64(c, "delay_ms", 0);
	loss_percent = parameter_u64(c, "loss_percent", 0);
	if ((rate_mbit | delay_ms | loss_percent) != 0 && (over != VETH || rate_mbit > 1000000 || delay_ms > 10000 || loss_percent > 99))
		wrong_arguments(c, "rate_mbit= is up to 1000000, delay_ms= to 10000, loss_percent= to 99, with over=veth");
	segment = (int)parameter_u64(c, "mss", 0);
	if (segment != 0 && (over == UNIX || segment < 88 || segment > 32767))
		wrong_arguments(c, "mss= is from 88 to 32767, and of TCP");
}

#include "peer.h"

/* The token of this launch; whether there is one. */
static inline int make_token(struct context *c)
{
	ssize_t n = is_far(c) ? read(STDIN_FILENO, token, sizeof token) : getrandom(token, sizeof token, 0);
	if (n == sizeof token)
		return 1;
	failed_because(c, "token", "there is none: %s", n < 0 ? strerror(errno) : "it did not come whole");
	return 0;
}

/* Makes the network, and the far end in it, which serves until it is ended; whether that went well. */
static inline int start_far_end(struct context *c, void (*serve)(void))
{
	int ready[2], go[2];
	char byte = 0;
	read_way(c);
	signal(SIGPIPE, SIG_IGN);
	prctl(PR_SET_CHILD_SUBREAPER, 1); /* what the far end has started is waited for */
	if (over == PEER)
		return meet_peer(c, serve);
	if (pipe2(says, O_CLOEXEC) != 0 || pipe2(ready, O_CLOEXEC) != 0 || pipe2(go, O_CLOEXEC) != 0) {
		failed(c, "pipe");
		return 0;
	}
	if (over != UNIX && !alone()) {
		skip(c, NO_HOSTS_BECAUSE);
		return 0;
	}
	if (over == LOOPBACK && !shell("ip link set lo up")) {
		skip(c, "the loopback interface of a network namespace cannot be set up: that takes ip(8) (apt-get install iproute2)");
		return 0;
	}
	far_end = fork_peer(c);
	if (far_end == 0)
		be_far_end(ready[WRITES], go[READS], serve);
	close(ready[WRITES]);
	close(go[READS]);
	close(says[WRITES]);
	int joined = over != VETH || (far_end > 0 && read(ready[READS], &byte, 1) == 1 && join_host(far_end) &&
				      write(go[WRITES], &byte, 1) == 1 && read(ready[READS], &byte, 1) == 1);
	close(ready[READS]);
	close(go[WRITES]);
	if (far_end < 0)
		failed(c, "fork");
	else if (!joined)
		skip(c, NO_HOSTS_BECAUSE);
	int shaped = over != VETH || shape("transfer1");
	if (!shaped)
		skip(c, "what the hosts send cannot be shaped: that takes tc(8) with tbf and netem, or nft(8) for loss alone (apt-get install iproute2 nftables)");
	return far_end > 0 && joined && shaped;
}

/* The next server of the far end: its port, and what a client must know; 0 after a failure, or where it ended. */
static inline int far_server(struct context *c, struct said *said)
{
	int heard = hear_far(said, 3 * PATIENCE_S * 1000);
	if (heard < 0)
		lost(c, "port");
	else if (heard == 0 || said->port == 0)
		far_has_ended(c, heard > 0 ? said : NULL);
	return heard > 0 && said->port != 0;
}

static inline int far_port(struct context *c, in_port_t *port)
{
	struct said said;
	int well = far_server(c, &said);
	*port = well ? said.port : 0;
	return well;
}

/* Ends the far end, and waits for all that end with it. */
static inline void stop_far_end(struct context *c)
{
	if (far_end > 0 && kill(far_end, SIGKILL) != 0)
		failed(c, "kill");
	if (over == PEER)
		close(says[READS]); /* which ends it there */
	while (wait(NULL) > 0)
		;
}

/* What both ends have worked, and how long it took, over all regions: for the result. */
static struct worked {
	uint64_t operations, wall_ns, near_ns, far_ns;
} worked;

static inline void add_work(uint64_t operations, uint64_t wall_ns, uint64_t near_ns, uint64_t far_ns)
{
	worked.operations += operations;
	worked.wall_ns += wall_ns;
	worked.near_ns += near_ns;
	worked.far_ns += far_ns;
}

/* CPU time of each end for an operation, and as a share of one CPU. */
static inline void tell_work(struct context *c)
{
	const uint64_t ns[] = {worked.near_ns, worked.far_ns};
	if (worked.operations == 0 || worked.wall_ns == 0)
		return;
	note(c, "ends_wall_ns", "%llu", (unsigned long long)worked.wall_ns);
	for (int i = 0; i < 2; i++) {
		note(c, i == 0 ? "near_cpu_ns" : "far_cpu_ns", "%.3f", (double)ns[i] / (double)worked.operations);
		note(c, i == 0 ? "near_cpu_share" : "far_cpu_share", "%.6f", (double)ns[i] / (double)worked.wall_ns);
	}
}

#endif
