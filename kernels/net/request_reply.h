/* Requests that the far end answers, by TCP, UDP or a UNIX socket: one connection, and messages of a fixed size.
 *
 * A message has a number at both ends, and the answer to it the next number. Two numbers are asked for the count of answers and for the CPU time
 * of the far end since the last time.
 */
#ifndef GRITSTONE_NET_REQUEST_REPLY_H
#define GRITSTONE_NET_REQUEST_REPLY_H

#include "endpoints.h"

enum { NUMBER = sizeof(uint64_t), MOST_BYTES = 65536, MOST_DATAGRAM = 65000 };

static const uint64_t HOW_MANY = UINT64_MAX, HOW_LONG = UINT64_MAX - 1;
static char message[MOST_BYTES];
static size_t size = NUMBER;
static int datagrams, asks;

static inline void set_number(uint64_t number)
{
	size_t last = size > NUMBER ? size - NUMBER : 0; /* gcc does not see that it is never less */
	memcpy(message, &number, NUMBER);
	memcpy(message + last, &number, NUMBER);
}

/* Of a message that is whole; 0 of one that is not. */
static inline uint64_t number_of(const char *text)
{
	uint64_t first, last;
	memcpy(&first, text, NUMBER);
	memcpy(&last, text + size - NUMBER, NUMBER);
	return first == last ? first : 0;
}

/* One message; 0 where none comes, or one of another size. */
static inline int takes(int s)
{
	return datagrams ? recv(s, message, sizeof message, 0) == (ssize_t)size : reads_all(s, message, size);
}

static inline int gives(int s)
{
	return datagrams ? send(s, message, size, MSG_NOSIGNAL) == (ssize_t)size : writes_all(s, message, size);
}

/* Room for the requests that come while an end does not run for a tenth of a second; where it is refused, the usual room stays. */
static inline void make_room(int s)
{
	const int bytes = 4 << 20;
	setsockopt(s, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof bytes);
}

/* The far end of datagrams is joined to whom the first comes from, with the token. */
static inline int take_datagrams(void)
{
	struct sockaddr_storage from;
	socklen_t length = sizeof from;
	unsigned char is[TOKEN + 1];
	int s = open_far(SOCK_DGRAM);
	make_room(s);
	ssize_t n = recvfrom(s, is, sizeof is, 0, (struct sockaddr *)&from, &length);
	if (n < 0)
		complain("no datagram came within %d s", PATIENCE_S);
	if (n != TOKEN)
		complain("the first datagram is not the token of this launch");
	check_token(is);
	if (connect(s, (struct sockaddr *)&from, length) != 0 || send(s, is, TOKEN, 0) != TOKEN)
		complain("it cannot answer: %s", strerror(errno));
	return s;
}

static inline void answer_requests(void)
{
	uint64_t answered = 0, begun = cpu_ns();
	int s = -1;
	if (datagrams) {
		s = take_datagrams();
	} else {
		int listener = open_far(SOCK_STREAM);
		s = take_connection(listener);
		close(listener);
		if (!without_delay(s, 1))
			complain("TCP_NODELAY: %s", strerror(errno));
	}
	for (;;) {
		if (!takes(s)) {
			if (errno == EAGAIN)
				continue; /* between samples nothing is asked */
			complain("a request did not come whole: %s", strerror(errno));
		}
		uint64_t number = number_of(message);
		if (number == 0)
			complain("a request is damaged");
		if (number == HOW_MANY || number == HOW_LONG) {
			uint64_t now = cpu_ns();
			set_number(number == HOW_MANY ? answered : now - begun);
			answered = number == HOW_MANY ? 0 : answered;
			begun = number == HOW_LONG ? now : begun;
		} else {
			set_number(number + 1);
			answered++;
		}
		if (!gives(s))
			complain("it cannot answer: %s", strerror(errno));
	}
}

static inline int join_datagrams(struct context *c, in_port_t port)
{
	struct sockaddr_storage address;
	unsigned char is[TOKEN];
	int s = near_datagrams();
	socklen_t length = address_of(1, port, &address);
	make_room(s);
	if (s >= 0 && connect(s, (struct sockaddr *)&address, length) == 0 && send(s, token, TOKEN, 0) == TOKEN &&
	    recv(s, is, TOKEN, 0) == TOKEN && memcmp(is, token, TOKEN) == 0)
		return s;
	lost(c, "connect");
	return -1;
}

/* One question about the far end itself; 0 after a failure. */
static inline int ask(struct context *c, uint64_t what, uint64_t *said)
{
	set_number(what);
	if (!gives(asks) || !takes(asks)) {
		lost(c, "ask");
		return 0;
	}
	memcpy(said, message, NUMBER);
	return 1;
}

/* Parameters by=, size=; the far end; the connection. Whether requests can be made. */
static inline int start_asking(struct context *c)
{
	const char *by = parameter(c, "by", "tcp");
	uint64_t answered, ns;
	in_port_t port;
	datagrams = strcmp(by, "udp") == 0;
	size = (size_t)parameter_u64(c, "size", NUMBER);
	if ((!datagrams && strcmp(by, "tcp") != 0) || (size != NUMBER && size < 2 * NUMBER) || size > (datagrams ? MOST_DATAGRAM : MOST_BYTES))
		wrong_arguments(c, "by= is tcp or udp, size= is %d, or from %d to %d", NUMBER, 2 * NUMBER, datagrams ? MOST_DATAGRAM : MOST_BYTES);
	memset(message, 'm', size);
	if (!make_token(c) || !start_far_end(c, answer_requests) || !far_port(c, &port))
		return 0;
	asks = datagrams ? join_datagrams(c, port) : connect_far(c, port);
	if (asks < 0)
		return 0;
	if (!datagrams && !without_delay(asks, 1)) {
		failed(c, "setsockopt");
		return 0;
	}
	return ask(c, HOW_MANY, &answered) && ask(c, HOW_LONG, &ns);
}

/* What is to be done after a region of n requests: each was answered once, and nothing more comes. */
static inline void look_at_answers(struct context *c, uint64_t n, uint64_t wall_ns, uint64_t near_ns)
{
	uint64_t answered, ns;
	char more;
	if (recv(asks, &more, 1, MSG_DONTWAIT) >= 0)
		failed_because(c, "recv", "a request was answered twice");
	if (!ask(c, HOW_MANY, &answered) || !ask(c, HOW_LONG, &ns))
		return;
	if (answered != n)
		failed_because(c, "ask", "the other end has answered %llu of %llu requests", (unsigned long long)answered, (unsigned long long)n);
	add_work(n, wall_ns, near_ns, ns);
}

#endif
