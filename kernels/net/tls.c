/* net/tls/stream: throughput of one encrypted stream; net/tls/handshake: TLS connection rate.
 *
 * what=stream: one operation is one message of size= bytes, sent and received completely (messages.h). what=handshake: one operation is a
 * connection with a full handshake in which the client verifies the certificate, 8 bytes each way, and close_notify, first from the server.
 * Sessions are not resumed; the server counts its replies.
 */
#define _GNU_SOURCE
#include "openssl.h"
#include "messages.h"

enum { GET_REPLIES = 1, GET_CPU_TIME = 2, FIRST_NUMBER = 3 }; /* requests for server statistics; ordinary numbers start at FIRST_NUMBER */

static int handshakes;
static in_port_t port;
static struct context *server_context;
static void *stream; /* of the client */
static uint64_t client_ns, server_ns, wall_ns;

static void *accept_tls(int s)
{
	void *tls = tls_handshake(s, ssl.accept);
	if (tls == NULL)
		server_fail("a handshake has failed: %s", tls_error());
	return tls;
}

static void serve_stream(int s)
{
	struct order order;
	void *tls = accept_tls(s);
	uint64_t before = cpu_ns();
	for (;;) {
		struct reply reply = {0};
		errno = 0;
		if (!tls_recv_all(tls, &order, sizeof order)) {
			if (errno == EAGAIN)
				continue; /* idle between samples */
			server_fail("cannot read an order: %s", tls_error());
		}
		if (order.messages > UINT64_MAX / MAX_BYTES)
			server_fail("a stream announces too many messages");
		receive(tls_recv, tls, &order, &reply);
		uint64_t now = cpu_ns();
		reply.cpu = now - before;
		before = now;
		if (!tls_send_all(tls, &reply, sizeof reply))
			server_fail("cannot send a reply: %s", tls_error());
	}
}

static void serve_handshakes(int listener)
{
	uint64_t replies = 0, cpu_start = cpu_ns();
	for (;;) {
		unsigned char received_token[TOKEN];
		uint64_t number, reply;
		int s = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
		if (s < 0 && errno == EAGAIN)
			continue; /* idle between samples */
		if (s < 0)
			server_fail("accept: %s", strerror(errno));
		if (!recv_all(s, received_token, sizeof received_token))
			server_fail("a connection was closed, or idle for %d s, before its token was complete", TIMEOUT_S);
		check_token(received_token);
		void *tls = accept_tls(s);
		if (!tls_recv_all(tls, &number, sizeof number))
			server_fail("cannot read a request: %s", tls_error());
		reply = number + 1;
		if (number == GET_REPLIES) {
			reply = replies;
			replies = 0;
		} else if (number == GET_CPU_TIME) {
			uint64_t now = cpu_ns();
			reply = now - cpu_start;
			cpu_start = now;
		} else {
			replies++;
		}
		if (!tls_send_all(tls, &reply, sizeof reply))
			server_fail("cannot send a reply: %s", tls_error());
		ssl.shut(tls);
		ssl.close(tls);
		close(s);
	}
}

static void serve(void)
{
	char certificate[REPORT_BYTES];
	make_certificate(server_context, certificate, sizeof certificate);
	int listener = open_server_socket_with(SOCK_STREAM, certificate);
	if (handshakes)
		serve_handshakes(listener);
	int s = accept_connection(listener);
	close(listener);
	serve_stream(s);
}

static void tls_failed(struct context *c, const char *call)
{
	if (!server_has_failed(c))
		failed_because(c, call, "%s", tls_error());
}

/* Returns NULL on failure. */
static void *connect_tls(struct context *c, int *s)
{
	*s = connect_server(c, port);
	if (*s < 0)
		return NULL;
	void *tls = set_nodelay(*s, 1) ? tls_handshake(*s, ssl.connect) : NULL;
	if (tls == NULL) {
		tls_failed(c, "handshake");
		close(*s);
	}
	return tls;
}

/* One connection with one request. Returns 0 on failure. */
static int request_once(struct context *c, uint64_t number, uint64_t *reply)
{
	char more;
	int s;
	void *tls = connect_tls(c, &s);
	if (tls == NULL)
		return 0;
	int ok = tls_send_all(tls, &number, sizeof number) && tls_recv_all(tls, reply, sizeof *reply);
	if (!ok)
		tls_failed(c, "request");
	if (ok && ssl.is_resumed(tls)) {
		failed_because(c, "handshake", "a session was resumed");
		ok = 0;
	}
	/* the server must end the session by close_notify */
	if (ok && ssl.reason(tls, ssl.read(tls, &more, 1)) != TLS_CLOSED) {
		failed_because(c, "request", "the server did not close the connection after its reply");
		ok = 0;
	}
	ssl.close(tls);
	close(s);
	return ok;
}

static void setup(struct context *c)
{
	const char *what = parameter(c, "what", "stream"), *missing = is_server(c) ? NULL : load_openssl();
	struct report report;
	int s;
	handshakes = strcmp(what, "handshake") == 0;
	if (!handshakes && strcmp(what, "stream") != 0)
		wrong_arguments(c, "what= is stream or handshake");
	read_size(c);
	make_message();
	server_context = c;
	if (missing != NULL)
		skip(c, "%s", missing);
	if (missing != NULL || !make_token(c) || !start_server(c, serve) || !await_announcement(c, &report) || !trust(c, report.text))
		return;
	port = report.port;
	note(c, "library", "%s", ssl.version(0));
	note(c, "cipher", "TLS 1.3, " SUITE ", P-256");
	if (!handshakes)
		stream = connect_tls(c, &s);
}

static void send_messages(struct context *c, uint64_t n, uint64_t *check)
{
	const struct order order = {.messages = n, .first = 0};
	struct reply reply;
	uint64_t first = message[0];
	int ok = tls_send_all(stream, &order, sizeof order);
	for (uint64_t i = 0; ok && i < n; i++) {
		message[0] = first + i;
		ok = tls_send_all(stream, message, size);
	}
	message[0] = first;
	if (!ok || !tls_recv_all(stream, &reply, sizeof reply)) {
		tls_failed(c, "stream");
		return;
	}
	*check = reply.sum + reply.messages;
	server_ns = reply.cpu;
}

static void run(struct context *c, uint64_t n, uint64_t *check)
{
	uint64_t cpu_start = cpu_ns(), start = now_ns(), reply = 0;
	if (!handshakes)
		send_messages(c, n, check);
	for (uint64_t i = 0; handshakes && i < n; i++) {
		if (!request_once(c, FIRST_NUMBER + i, &reply))
			return;
		*check += reply;
	}
	wall_ns = now_ns() - start;
	client_ns = cpu_ns() - cpu_start;
}

static void finish(struct context *c, uint64_t n, uint64_t *check)
{
	uint64_t replies;
	(void)check;
	if (handshakes && (!request_once(c, GET_REPLIES, &replies) || !request_once(c, GET_CPU_TIME, &server_ns)))
		return;
	if (handshakes && replies != n)
		failed_because(c, "ask", "the server replied on %llu of %llu connections", (unsigned long long)replies, (unsigned long long)n);
	add_work(n, wall_ns, client_ns, server_ns);
}

/* The sums of all messages, or FIRST + 1 to FIRST + n. */
static uint64_t expect(struct context *c, uint64_t n)
{
	(void)c;
	return handshakes ? n * FIRST_NUMBER + n * (n + 1) / 2 : expected_sum(n);
}

static void teardown(struct context *c)
{
	note_cpu_time(c);
	stop_server(c);
}

const struct kernel kernel = {
	.name = "net/tls", .setup = setup, .run = run, .finish = finish, .expect = expect, .teardown = teardown};
