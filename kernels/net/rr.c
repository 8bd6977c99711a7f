/* net/tcp/rr, net/udp/rr, net/unix/rr: round-trip time, one outstanding request.
 *
 * One operation is one round trip of size= bytes each way (request_reply.h), by= tcp or udp. Both sides block, neither spins. Each reply
 * must match its request, and the server's count of replies the number of requests.
 */
#define _GNU_SOURCE
#include "request_reply.h"

static uint64_t client_ns, wall_ns;

static void setup(struct context *c)
{
	start_client(c);
}

static void run(struct context *c, uint64_t n, uint64_t *check)
{
	uint64_t cpu_start = cpu_ns(), start = now_ns(), sum = 0;
	for (uint64_t i = 1; i <= n; i++) {
		set_number(i);
		if (!send_message(client_socket) || !receive_message(client_socket)) {
			call_failed(c, "request");
			return;
		}
		sum += message_number(message);
	}
	wall_ns = now_ns() - start;
	client_ns = cpu_ns() - cpu_start;
	*check = sum;
}

static void finish(struct context *c, uint64_t n, uint64_t *check)
{
	(void)check;
	check_replies(c, n, wall_ns, client_ns);
}

/* Sum of 2 to n + 1. */
static uint64_t expect(struct context *c, uint64_t n)
{
	(void)c;
	return n * (n + 3) / 2;
}

static void teardown(struct context *c)
{
	note_cpu_time(c);
	stop_server(c);
}

const struct kernel kernel = {
	.name = "net/rr", .setup = setup, .run = run, .finish = finish, .expect = expect, .teardown = teardown};
