/* Request-reply over TCP, UDP or a UNIX socket: one connection, messages of a fixed size.
 *
 * A message begins and ends with its number; the reply carries the number + 1. Two numbers query the count of replies and the server's CPU
 * time since the previous query.
 */
#ifndef GRITSTONE_NET_REQUEST_REPLY_H
#define GRITSTONE_NET_REQUEST_REPLY_H

#include "endpoints.h"

enum { NUMBER = sizeof(uint64_t), MAX_BYTES = 65536, MAX_DATAGRAM = 65000 };

static const uint64_t GET_REPLIES = UINT64_MAX, GET_CPU_TIME = UINT64_MAX - 1;
static char message[MAX_BYTES];
static size_t size = NUMBER;
static int datagrams, client_socket;

static inline void set_number(uint64_t number)
{
	size_t last = size > NUMBER ? size - NUMBER : 0; /* gcc does not see that size >= NUMBER */
	memcpy(message, &number, NUMBER);
	memcpy(message + last, &number, NUMBER);
}

/* 0 for a damaged message. */
static inline uint64_t message_number(const char *text)
{
	uint64_t first, last;
	memcpy(&first, text, NUMBER);
	memcpy(&last, text + size - NUMBER, NUMBER);
	return first == last ? first : 0;
}

/* Returns 0 on failure and on a wrong size. */
static inline int receive_message(int s)
{
	return datagrams ? recv(s, message, sizeof message, 0) == (ssize_t)size : recv_all(s, message, size);
}

static inline int send_message(int s)
{
	return datagrams ? send(s, message, size, MSG_NOSIGNAL) == (ssize_t)size : send_all(s, message, size);
}

/* Space for the requests of 0.1 s during which the receiver does not run. Without privilege the default size stays. */
static inline void enlarge_receive_buffer(int s)
{
	const int bytes = 4 << 20;
	setsockopt(s, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof bytes);
}

/* Connects the socket to the sender of the first datagram, which holds the token. */
static inline int accept_datagrams(void)
{
	struct sockaddr_storage from;
	socklen_t length = sizeof from;
	unsigned char received_token[TOKEN + 1];
	int s = open_server_socket(SOCK_DGRAM);
	enlarge_receive_buffer(s);
	ssize_t n = recvfrom(s, received_token, sizeof received_token, 0, (struct sockaddr *)&from, &length);
	if (n < 0)
		server_fail("no datagram within %d s", TIMEOUT_S);
	if (n != TOKEN)
		server_fail("the first datagram is not the token of this launch");
	check_token(received_token);
	if (connect(s, (struct sockaddr *)&from, length) != 0 || send(s, received_token, TOKEN, 0) != TOKEN)
		server_fail("cannot send a reply: %s", strerror(errno));
	return s;
}

static inline void serve_requests(void)
{
	uint64_t replies = 0, cpu_start = cpu_ns();
	int s = -1;
	if (datagrams) {
		s = accept_datagrams();
	} else {
		int listener = open_server_socket(SOCK_STREAM);
		s = accept_connection(listener);
		close(listener);
		if (!set_nodelay(s, 1))
			server_fail("TCP_NODELAY: %s", strerror(errno));
	}
	for (;;) {
		if (!receive_message(s)) {
			if (errno == EAGAIN)
				continue; /* idle between samples */
			server_fail("cannot read a request: %s", strerror(errno));
		}
		uint64_t number = message_number(message);
		if (number == 0)
			server_fail("a request is damaged");
		if (number == GET_REPLIES || number == GET_CPU_TIME) {
			uint64_t now = cpu_ns();
			set_number(number == GET_REPLIES ? replies : now - cpu_start);
			replies = number == GET_REPLIES ? 0 : replies;
			cpu_start = number == GET_CPU_TIME ? now : cpu_start;
		} else {
			set_number(number + 1);
			replies++;
		}
		if (!send_message(s))
			server_fail("cannot send a reply: %s", strerror(errno));
	}
}

static inline int connect_datagrams(struct context *c, in_port_t port)
{
	struct sockaddr_storage address;
	unsigned char received_token[TOKEN];
	int s = client_datagram_socket();
	socklen_t length = address_of(1, port, &address);
	enlarge_receive_buffer(s);
	if (s >= 0 && connect(s, (struct sockaddr *)&address, length) == 0 && send(s, token, TOKEN, 0) == TOKEN &&
	    recv(s, received_token, TOKEN, 0) == TOKEN && memcmp(received_token, token, TOKEN) == 0)
		return s;
	call_failed(c, "connect");
	return -1;
}

/* Returns 0 on failure. */
static inline int query_server(struct context *c, uint64_t what, uint64_t *value)
{
	set_number(what);
	if (!send_message(client_socket) || !receive_message(client_socket)) {
		call_failed(c, "ask");
		return 0;
	}
	memcpy(value, message, NUMBER);
	return 1;
}

/* Parses by= and size=, starts the server and connects. Returns 0 on failure. */
static inline int start_client(struct context *c)
{
	const char *by = parameter(c, "by", "tcp");
	uint64_t replies, ns;
	in_port_t port;
	datagrams = strcmp(by, "udp") == 0;
	size = (size_t)parameter_u64(c, "size", NUMBER);
	if ((!datagrams && strcmp(by, "tcp") != 0) || (size != NUMBER && size < 2 * NUMBER) || size > (datagrams ? MAX_DATAGRAM : MAX_BYTES))
		wrong_arguments(c, "by= is tcp or udp, size= is %d, or from %d to %d", NUMBER, 2 * NUMBER, datagrams ? MAX_DATAGRAM : MAX_BYTES);
	memset(message, 'm', size);
	if (!make_token(c) || !start_server(c, serve_requests) || !await_port(c, &port))
		return 0;
	client_socket = datagrams ? connect_datagrams(c, port) : connect_server(c, port);
	if (client_socket < 0)
		return 0;
	if (!datagrams && !set_nodelay(client_socket, 1)) {
		failed(c, "setsockopt");
		return 0;
	}
	return query_server(c, GET_REPLIES, &replies) && query_server(c, GET_CPU_TIME, &ns);
}

/* After a region: the server sent n replies, and no further one has arrived. */
static inline void check_replies(struct context *c, uint64_t n, uint64_t wall_ns, uint64_t client_ns)
{
	uint64_t replies, ns;
	char more;
	if (recv(client_socket, &more, 1, MSG_DONTWAIT) >= 0)
		failed_because(c, "recv", "a request got two replies");
	if (!query_server(c, GET_REPLIES, &replies) || !query_server(c, GET_CPU_TIME, &ns))
		return;
	if (replies != n)
		failed_because(c, "ask", "the server replied to %llu of %llu requests", (unsigned long long)replies, (unsigned long long)n);
	add_work(n, wall_ns, client_ns, ns);
}

#endif
