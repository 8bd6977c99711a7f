/* net/tcp/connect, net/unix/connect: how soon a connection is made, used once and ended, one after the other.
 *
 * One operation: the near end opens a socket, connects, and sends a token and a number; the far end accepts, answers with the next number and
 * closes; the near end has the answer and sees the end. The far end closes first, so that it is the one that remembers the connection for a
 * while, and not the port that is to be used again. It counts what it has answered.
 */
#define _GNU_SOURCE
#include "endpoints.h"

enum { HOW_MANY = 1, HOW_LONG = 2, FIRST = 3 }; /* numbers that ask about the far end, and the first that does not */

struct request {
	unsigned char token[TOKEN];
	uint64_t number;
};

static in_port_t port;
static uint64_t near_ns, wall_ns;

static void serve(void)
{
	int listener = open_far(SOCK_STREAM);
	uint64_t answered = 0, begun = cpu_ns();
	for (;;) {
		struct request request;
		int s = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
		if (s < 0 && errno == EAGAIN)
			continue; /* between samples nobody connects */
		if (s < 0)
			complain("accept: %s", strerror(errno));
		if (!reads_all(s, &request, sizeof request))
			complain("a connection ended, or was silent for %d s, before its request was there", PATIENCE_S);
		check_token(request.token);
		uint64_t answer = request.number + 1;
		if (request.number == HOW_MANY) {
			answer = answered;
			answered = 0;
		} else if (request.number == HOW_LONG) {
			uint64_t now = cpu_ns();
			answer = now - begun;
			begun = now;
		} else {
			answered++;
		}
		if (!writes_all(s, &answer, sizeof answer))
			complain("it cannot answer: %s", strerror(errno));
		close(s);
	}
}

/* One connection; 0 after a failure. */
static int ask(struct context *c, uint64_t number, uint64_t *answer)
{
	struct sockaddr_storage address;
	struct request request = {.number = number};
	socklen_t length = address_of(1, port, &address);
	char more;
	memcpy(request.token, token, TOKEN);
	int s = new_socket(SOCK_STREAM);
	int well = s >= 0 && connect(s, (struct sockaddr *)&address, length) == 0 && writes_all(s, &request, sizeof request) &&
		   reads_all(s, answer, sizeof *answer);
	if (!well) {
		lost(c, "connect");
	} else if (recv(s, &more, 1, 0) != 0) {
		failed_because(c, "recv", "a connection is not closed after its answer");
		well = 0;
	}
	if (s >= 0)
		close(s);
	return well;
}

static void setup(struct context *c)
{
	if (make_token(c) && start_far_end(c, serve))
		far_port(c, &port);
}

static void run(struct context *c, uint64_t n, uint64_t *check)
{
	uint64_t begun = cpu_ns(), start = now_ns(), answer = 0, sum = 0;
	for (uint64_t i = 0; i < n; i++) {
		if (!ask(c, FIRST + i, &answer))
			return;
		sum += answer;
	}
	wall_ns = now_ns() - start;
	near_ns = cpu_ns() - begun;
	*check = sum;
}

static void finish(struct context *c, uint64_t n, uint64_t *check)
{
	uint64_t answered, ns;
	(void)check;
	if (!ask(c, HOW_MANY, &answered) || !ask(c, HOW_LONG, &ns))
		return;
	if (answered != n)
		failed_because(c, "ask", "the other end has answered %llu of %llu connections", (unsigned long long)answered, (unsigned long long)n);
	add_work(n, wall_ns, near_ns, ns);
}

/* FIRST + 1 to FIRST + n. */
static uint64_t expect(struct context *c, uint64_t n)
{
	(void)c;
	return n * FIRST + n * (n + 1) / 2;
}

static void teardown(struct context *c)
{
	tell_work(c);
	stop_far_end(c);
}

const struct kernel kernel = {
	.name = "net/connect", .setup = setup, .run = run, .finish = finish, .expect = expect, .teardown = teardown};
