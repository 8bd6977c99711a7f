/* net/tcp/connect, net/unix/connect: connection rate, one connection per request, one at a time.
 *
 * One operation: the client opens a socket, connects, and sends a token and a number; the server accepts, replies with the number + 1 and
 * closes; the client reads the reply and the end of the stream. The server closes first, so that TIME_WAIT stays with it and no client port
 * runs out. It counts its replies.
 */
#define _GNU_SOURCE
#include "endpoints.h"

enum { GET_REPLIES = 1, GET_CPU_TIME = 2, FIRST_NUMBER = 3 }; /* requests for server statistics; ordinary numbers start at FIRST_NUMBER */

struct request {
	unsigned char token[TOKEN];
	uint64_t number;
};

static in_port_t port;
static uint64_t client_ns, wall_ns;

static void serve(void)
{
	int listener = open_server_socket(SOCK_STREAM);
	uint64_t replies = 0, cpu_start = cpu_ns();
	for (;;) {
		struct request request;
		int s = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
		if (s < 0 && errno == EAGAIN)
			continue; /* idle between samples */
		if (s < 0)
			server_fail("accept: %s", strerror(errno));
		if (!recv_all(s, &request, sizeof request))
			server_fail("a connection was closed, or idle for %d s, before its request was complete", TIMEOUT_S);
		check_token(request.token);
		uint64_t reply = request.number + 1;
		if (request.number == GET_REPLIES) {
			reply = replies;
			replies = 0;
		} else if (request.number == GET_CPU_TIME) {
			uint64_t now = cpu_ns();
			reply = now - cpu_start;
			cpu_start = now;
		} else {
			replies++;
		}
		if (!send_all(s, &reply, sizeof reply))
			server_fail("cannot send a reply: %s", strerror(errno));
		close(s);
	}
}

/* One connection with one request. Returns 0 on failure. */
static int request_once(struct context *c, uint64_t number, uint64_t *reply)
{
	struct sockaddr_storage address;
	struct request request = {.number = number};
	socklen_t length = address_of(1, port, &address);
	char more;
	memcpy(request.token, token, TOKEN);
	int s = new_socket(SOCK_STREAM);
	int ok = s >= 0 && connect(s, (struct sockaddr *)&address, length) == 0 && send_all(s, &request, sizeof request) &&
		   recv_all(s, reply, sizeof *reply);
	if (!ok) {
		call_failed(c, "connect");
	} else if (recv(s, &more, 1, 0) != 0) {
		failed_because(c, "recv", "the server did not close the connection after its reply");
		ok = 0;
	}
	if (s >= 0)
		close(s);
	return ok;
}

static void setup(struct context *c)
{
	if (make_token(c) && start_server(c, serve))
		await_port(c, &port);
}

static void run(struct context *c, uint64_t n, uint64_t *check)
{
	uint64_t cpu_start = cpu_ns(), start = now_ns(), reply = 0, sum = 0;
	for (uint64_t i = 0; i < n; i++) {
		if (!request_once(c, FIRST_NUMBER + i, &reply))
			return;
		sum += reply;
	}
	wall_ns = now_ns() - start;
	client_ns = cpu_ns() - cpu_start;
	*check = sum;
}

static void finish(struct context *c, uint64_t n, uint64_t *check)
{
	uint64_t replies, ns;
	(void)check;
	if (!request_once(c, GET_REPLIES, &replies) || !request_once(c, GET_CPU_TIME, &ns))
		return;
	if (replies != n)
		failed_because(c, "ask", "the server replied on %llu of %llu connections", (unsigned long long)replies, (unsigned long long)n);
	add_work(n, wall_ns, client_ns, ns);
}

/* FIRST + 1 to FIRST + n. */
static uint64_t expect(struct context *c, uint64_t n)
{
	(void)c;
	return n * FIRST_NUMBER + n * (n + 1) / 2;
}

static void teardown(struct context *c)
{
	note_cpu_time(c);
	stop_server(c);
}

const struct kernel kernel = {
	.name = "net/connect", .setup = setup, .run = run, .finish = finish, .expect = expect, .teardown = teardown};
