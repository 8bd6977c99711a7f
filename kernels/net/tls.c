/* net/tls/stream: how much goes from one end to the other in one stream that is encrypted; net/tls/handshake: how soon a connection of TLS is made.
 *
 * what=stream: one operation is one message of size= bytes that is sent, and received whole (messages.h).
 * what=handshake: one operation is a connection, a whole handshake in which the near end verifies the certificate, 8 bytes each way, and the end,
 * which the far end says first. Sessions are not resumed; the far end counts what it has answered.
 */
#define _GNU_SOURCE
#include "openssl.h"
#include "messages.h"

enum { HOW_MANY = 1, HOW_LONG = 2, FIRST = 3 }; /* numbers that ask about the far end, and the first that does not */

static int handshakes;
static in_port_t port;
static struct context *context_of_far;
static void *stream; /* of the near end */
static uint64_t near_ns, far_ns, wall_ns;

static void *accept_tls(int s)
{
	void *tls = with_tls(s, ssl.accept);
	if (tls == NULL)
		complain("a handshake has failed: %s", tls_error());
	return tls;
}

static void serve_stream(int s)
{
	struct order order;
	void *tls = accept_tls(s);
	uint64_t before = cpu_ns();
	for (;;) {
		struct answer answer = {0};
		errno = 0;
		if (!takes_all(tls, &order, sizeof order)) {
			if (errno == EAGAIN)
				continue; /* between samples nothing is sent */
			complain("an order did not come whole: %s", tls_error());
		}
		if (order.messages > UINT64_MAX / MOST_BYTES)
			complain("a stream announces more than there can be");
		receive(take_tls, tls, &order, &answer);
		uint64_t now = cpu_ns();
		answer.cpu = now - before;
		before = now;
		if (!gives_all(tls, &answer, sizeof answer))
			complain("it cannot answer: %s", tls_error());
	}
}

static void serve_handshakes(int listener)
{
	uint64_t answered = 0, begun = cpu_ns();
	for (;;) {
		unsigned char is[TOKEN];
		uint64_t number, answer;
		int s = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
		if (s < 0 && errno == EAGAIN)
			continue; /* between samples nobody connects */
		if (s < 0)
			complain("accept: %s", strerror(errno));
		if (!reads_all(s, is, sizeof is))
			complain("a connection ended, or was silent for %d s, before its token was there", PATIENCE_S);
		check_token(is);
		void *tls = accept_tls(s);
		if (!takes_all(tls, &number, sizeof number))
			complain("a request did not come whole: %s", tls_error());
		answer = number + 1;
		if (number == HOW_MANY) {
			answer = answered;
			answered = 0;
		} else if (number == HOW_LONG) {
			uint64_t now = cpu_ns();
			answer = now - begun;
			begun = now;
		} else {
			answered++;
		}
		if (!gives_all(tls, &answer, sizeof answer))
			complain("it cannot answer: %s", tls_error());
		ssl.shut(tls);
		ssl.close(tls);
		close(s);
	}
}

static void serve(void)
{
	char certificate[SAID];
	make_certificate(context_of_far, certificate, sizeof certificate);
	int listener = open_far_with(SOCK_STREAM, certificate);
	if (handshakes)
		serve_handshakes(listener);
	int s = take_connection(listener);
	close(listener);
	serve_stream(s);
}

static void lost_tls(struct context *c, const char *call)
{
	if (!has_complained(c))
		failed_because(c, call, "%s", tls_error());
}

/* A connection with its handshake; NULL after a failure. */
static void *connect_tls(struct context *c, int *s)
{
	*s = connect_far(c, port);
	if (*s < 0)
		return NULL;
	void *tls = without_delay(*s, 1) ? with_tls(*s, ssl.connect) : NULL;
	if (tls == NULL) {
		lost_tls(c, "handshake");
		close(*s);
	}
	return tls;
}

/* One connection; 0 after a failure. */
static int ask(struct context *c, uint64_t number, uint64_t *answer)
{
	char more;
	int s;
	void *tls = connect_tls(c, &s);
	if (tls == NULL)
		return 0;
	int well = gives_all(tls, &number, sizeof number) && takes_all(tls, answer, sizeof *answer);
	if (!well)
		lost_tls(c, "request");
	if (well && ssl.is_resumed(tls)) {
		failed_because(c, "handshake", "a session was resumed");
		well = 0;
	}
	/* nothing more may come, and the other end says that it was the last, as TLS has it */
	if (well && ssl.reason(tls, ssl.read(tls, &more, 1)) != TLS_CLOSED) {
		failed_because(c, "request", "a connection is not closed after its answer");
		well = 0;
	}
	ssl.close(tls);
	close(s);
	return well;
}

static void setup(struct context *c)
{
	const char *what = parameter(c, "what", "stream"), *missing = is_far(c) ? NULL : load_openssl();
	struct said said;
	int s;
	handshakes = strcmp(what, "handshake") == 0;
	if (!handshakes && strcmp(what, "stream") != 0)
		wrong_arguments(c, "what= is stream or handshake");
	read_size(c);
	make_message();
	context_of_far = c;
	if (missing != NULL)
		skip(c, "%s", missing);
	if (missing != NULL || !make_token(c) || !start_far_end(c, serve) || !far_server(c, &said) || !trust(c, said.text))
		return;
	port = said.port;
	note(c, "library", "%s", ssl.version(0));
	note(c, "cipher", "TLS 1.3, " SUITE ", P-256");
	if (!handshakes)
		stream = connect_tls(c, &s);
}

static void send_messages(struct context *c, uint64_t n, uint64_t *check)
{
	const struct order order = {.messages = n, .first = 0};
	struct answer answer;
	uint64_t first = message[0];
	int well = gives_all(stream, &order, sizeof order);
	for (uint64_t i = 0; well && i < n; i++) {
		message[0] = first + i;
		well = gives_all(stream, message, size);
	}
	message[0] = first;
	if (!well || !takes_all(stream, &answer, sizeof answer)) {
		lost_tls(c, "stream");
		return;
	}
	*check = answer.sum + answer.messages;
	far_ns = answer.cpu;
}

static void run(struct context *c, uint64_t n, uint64_t *check)
{
	uint64_t begun = cpu_ns(), start = now_ns(), answer = 0;
	if (!handshakes)
		send_messages(c, n, check);
	for (uint64_t i = 0; handshakes && i < n; i++) {
		if (!ask(c, FIRST + i, &answer))
			return;
		*check += answer;
	}
	wall_ns = now_ns() - start;
	near_ns = cpu_ns() - begun;
}

static void finish(struct context *c, uint64_t n, uint64_t *check)
{
	uint64_t answered;
	(void)check;
	if (handshakes && (!ask(c, HOW_MANY, &answered) || !ask(c, HOW_LONG, &far_ns)))
		return;
	if (handshakes && answered != n)
		failed_because(c, "ask", "the other end has answered %llu of %llu connections", (unsigned long long)answered, (unsigned long long)n);
	add_work(n, wall_ns, near_ns, far_ns);
}

/* The sums of all messages, or FIRST + 1 to FIRST + n. */
static uint64_t expect(struct context *c, uint64_t n)
{
	(void)c;
	return handshakes ? n * FIRST + n * (n + 1) / 2 : right_answer(n);
}

static void teardown(struct context *c)
{
	tell_work(c);
	stop_far_end(c);
}

const struct kernel kernel = {
	.name = "net/tls", .setup = setup, .run = run, .finish = finish, .expect = expect, .teardown = teardown};
