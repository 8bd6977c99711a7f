/* Carriers that are descriptors, both ends opened in one process. No name outlives the opening: a FIFO in the launch's directory is
 * unlinked at once; sockets have ephemeral ports of 127.0.0.1.
 *
 * Functions return 0 on failure, after failed(). */
#ifndef GRITSTONE_IPC_DESCRIPTORS_H
#define GRITSTONE_IPC_DESCRIPTORS_H

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include "../runtime/kernel.h"

/* One process's end: descriptors, or queue identifiers. */
struct end {
	int out, in;
};

static int fail_open(struct context *c, const char *call)
{
	failed(c, call);
	return 0;
}

static int open_pipes(struct context *c, struct end *end)
{
	int forward[2], backward[2];
	if (pipe2(forward, O_CLOEXEC) != 0 || pipe2(backward, O_CLOEXEC) != 0)
		return fail_open(c, "pipe");
	end[0] = (struct end){forward[1], backward[0]};
	end[1] = (struct end){backward[1], forward[0]};
	return 1;
}

static int open_fifo(struct context *c, const char *name, int *in, int *out)
{
	if (mkfifo(name, 0600) != 0)
		return fail_open(c, "mkfifo");
	/* a blocking open would wait for the other end */
	*in = open(name, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	*out = open(name, O_WRONLY | O_CLOEXEC);
	int opened = *in >= 0 && *out >= 0 && fcntl(*in, F_SETFL, 0) == 0;
	if (!opened)
		failed(c, "open");
	return unlink(name) == 0 ? opened : fail_open(c, "unlink");
}

static int open_fifos(struct context *c, struct end *end)
{
	return open_fifo(c, "there", &end[1].in, &end[0].out) && open_fifo(c, "back", &end[0].in, &end[1].out);
}

static int open_unix(struct context *c, struct end *end, int type)
{
	int both[2];
	if (socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, both) != 0)
		return fail_open(c, "socketpair");
	for (int i = 0; i < 2; i++)
		end[i] = (struct end){both[i], both[i]};
	return 1;
}

static int open_unix_stream(struct context *c, struct end *end)
{
	return open_unix(c, end, SOCK_STREAM);
}

static int open_unix_datagram(struct context *c, struct end *end)
{
	return open_unix(c, end, SOCK_DGRAM);
}

/* A socket bound to an ephemeral port of 127.0.0.1. */
static int loopback(int type, struct sockaddr_in *address)
{
	socklen_t length = sizeof *address;
	int s = socket(AF_INET, type | SOCK_CLOEXEC, 0);
	*address = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	if (bind(s, (struct sockaddr *)address, length) != 0 || getsockname(s, (struct sockaddr *)address, &length) != 0)
		return -1;
	return s;
}

static int open_tcp(struct context *c, struct end *end)
{
	struct sockaddr_in server;
	int on = 1, s[2], listener = loopback(SOCK_STREAM, &server);
	s[0] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (listener < 0 || listen(listener, 1) != 0 || connect(s[0], (struct sockaddr *)&server, sizeof server) != 0)
		return fail_open(c, "connect");
	s[1] = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
	close(listener);
	for (int i = 0; i < 2; i++) {
		if (setsockopt(s[i], IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) != 0)
			return fail_open(c, "setsockopt");
		end[i] = (struct end){s[i], s[i]};
	}
	note(c, "tcp_nodelay", "set");
	return 1;
}

static int open_udp(struct context *c, struct end *end)
{
	struct sockaddr_in address[2];
	struct timeval timeout = {.tv_sec = 2}; /* for lost datagrams */
	int s[2];
	for (int i = 0; i < 2; i++)
		if ((s[i] = loopback(SOCK_DGRAM, &address[i])) < 0)
			return fail_open(c, "bind");
	for (int i = 0; i < 2; i++) {
		if (connect(s[i], (struct sockaddr *)&address[1 - i], sizeof address[i]) != 0 ||
		    setsockopt(s[i], SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout) != 0)
			return fail_open(c, "connect");
		end[i] = (struct end){s[i], s[i]};
	}
	return 1;
}

static int open_eventfds(struct context *c, struct end *end)
{
	int forward = eventfd(0, EFD_CLOEXEC), backward = eventfd(0, EFD_CLOEXEC);
	if (forward < 0 || backward < 0)
		return fail_open(c, "eventfd");
	end[0] = (struct end){forward, backward};
	end[1] = (struct end){backward, forward};
	return 1;
}

#endif
