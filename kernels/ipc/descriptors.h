/* Ways from one process to another that are descriptors, both ends of each opened in one process. No name outlives the opening: a
 * FIFO lies in the directory of the launch and is removed at once; sockets have ports that the system chooses, of 127.0.0.1 alone.
 *
 * Each returns whether it could be opened, and says why where it could not. */
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

/* What one of the two processes has: descriptors, or numbers of queues. */
struct end {
	int out, in;
};

static int cannot(struct context *c, const char *call)
{
	failed(c, call);
	return 0;
}

static int make_pipe(struct context *c, struct end *end)
{
	int there[2], back[2];
	if (pipe2(there, O_CLOEXEC) != 0 || pipe2(back, O_CLOEXEC) != 0)
		return cannot(c, "pipe");
	end[0] = (struct end){there[1], back[0]};
	end[1] = (struct end){back[1], there[0]};
	return 1;
}

static int one_fifo(struct context *c, const char *name, int *in, int *out)
{
	if (mkfifo(name, 0600) != 0)
		return cannot(c, "mkfifo");
	/* to open one for reading waits for a writer, and the other way round */
	*in = open(name, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	*out = open(name, O_WRONLY | O_CLOEXEC);
	int opened = *in >= 0 && *out >= 0 && fcntl(*in, F_SETFL, 0) == 0;
	if (!opened)
		failed(c, "open");
	return unlink(name) == 0 ? opened : cannot(c, "unlink");
}

static int make_fifo(struct context *c, struct end *end)
{
	return one_fifo(c, "there", &end[1].in, &end[0].out) && one_fifo(c, "back", &end[0].in, &end[1].out);
}

static int make_unix(struct context *c, struct end *end, int type)
{
	int both[2];
	if (socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, both) != 0)
		return cannot(c, "socketpair");
	for (int i = 0; i < 2; i++)
		end[i] = (struct end){both[i], both[i]};
	return 1;
}

static int make_unix_stream(struct context *c, struct end *end)
{
	return make_unix(c, end, SOCK_STREAM);
}

static int make_unix_datagram(struct context *c, struct end *end)
{
	return make_unix(c, end, SOCK_DGRAM);
}

/* A socket of 127.0.0.1, at a port that the system chooses. */
static int loopback(int type, struct sockaddr_in *address)
{
	socklen_t length = sizeof *address;
	int s = socket(AF_INET, type | SOCK_CLOEXEC, 0);
	*address = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	if (bind(s, (struct sockaddr *)address, length) != 0 || getsockname(s, (struct sockaddr *)address, &length) != 0)
		return -1;
	return s;
}

static int make_tcp(struct context *c, struct end *end)
{
	struct sockaddr_in server;
	int on = 1, s[2], listener = loopback(SOCK_STREAM, &server);
	s[0] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (listener < 0 || listen(listener, 1) != 0 || connect(s[0], (struct sockaddr *)&server, sizeof server) != 0)
		return cannot(c, "connect");
	s[1] = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
	close(listener);
	for (int i = 0; i < 2; i++) {
		if (setsockopt(s[i], IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) != 0)
			return cannot(c, "setsockopt");
		end[i] = (struct end){s[i], s[i]};
	}
	note(c, "tcp_nodelay", "set");
	return 1;
}

static int make_udp(struct context *c, struct end *end)
{
	struct sockaddr_in address[2];
	struct timeval patience = {.tv_sec = 2}; /* what was lost never comes */
	int s[2];
	for (int i = 0; i < 2; i++)
		if ((s[i] = loopback(SOCK_DGRAM, &address[i])) < 0)
			return cannot(c, "bind");
	for (int i = 0; i < 2; i++) {
		if (connect(s[i], (struct sockaddr *)&address[1 - i], sizeof address[i]) != 0 ||
		    setsockopt(s[i], SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience) != 0)
			return cannot(c, "connect");
		end[i] = (struct end){s[i], s[i]};
	}
	return 1;
}

static int make_eventfd(struct context *c, struct end *end)
{
	int there = eventfd(0, EFD_CLOEXEC), back = eventfd(0, EFD_CLOEXEC);
	if (there < 0 || back < 0)
		return cannot(c, "eventfd");
	end[0] = (struct end){there, back};
	end[1] = (struct end){back, there};
	return 1;
}

#endif
