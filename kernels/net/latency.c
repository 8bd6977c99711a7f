/* net/tcp/latency, net/udp/latency: response times of an open load: requests at a fixed rate, independent of earlier replies.
 *
 * One operation is one request of size= bytes (request_reply.h), by= tcp or udp, rate= of which are due per second at fixed times. Response
 * time counts from the due time, so that a delay shows in all requests that it affects (no coordinated omission). TCP replies arrive in
 * order; datagram replies may arrive in any order, each exactly once.
 */
#define _GNU_SOURCE
#include "request_reply.h"

enum { MAX_REQUESTS = 1 << 20 };

static uint64_t rate, client_ns, wall_ns;
static unsigned char has_reply[MAX_REQUESTS];
static char part[MAX_BYTES];
static size_t received; /* of a partial reply */

static void setup(struct context *c)
{
	rate = parameter_u64(c, "rate", 1000);
	if (rate < 1 || rate > 1000000)
		wrong_arguments(c, "rate= is from 1 to 1000000");
	if (start_client(c))
		prctl(PR_SET_TIMERSLACK, 1);
}

static uint64_t due(uint64_t start, uint64_t i)
{
	return start + i * 1000000000u / rate;
}

/* Reads all available replies. Returns their number, -1 on failure. */
static int receive_replies(struct context *c, uint64_t start, uint64_t sent, uint64_t *check)
{
	for (int received_replies = 0;; received_replies++) {
		ssize_t n = recv(client_socket, part + received, size - received, MSG_DONTWAIT);
		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			return received_replies;
		if (n <= 0) {
			call_failed(c, "recv");
			return -1;
		}
		received += (size_t)n;
		if (received < size) {
			received_replies--;
			continue;
		}
		received = 0;
		uint64_t now = now_ns(), number = message_number(part) - 1; /* from 1 */
		if (number < 1 || number > sent || has_reply[number - 1]) {
			failed_because(c, "recv", "duplicate reply, or reply to no request: %llu", (unsigned long long)number);
			return -1;
		}
		has_reply[number - 1] = 1;
		record(c, due(start, number - 1), now);
		*check += number;
	}
}

/* Returns early when a reply arrives. */
static void wait_until(uint64_t then, uint64_t now)
{
	struct pollfd polled = {.fd = client_socket, .events = POLLIN};
	uint64_t ns = then > now ? then - now : 0;
	const struct timespec span = {(time_t)(ns / 1000000000), (long)(ns % 1000000000)};
	ppoll(&polled, 1, &span, NULL);
}

static void run(struct context *c, uint64_t n, uint64_t *check)
{
	uint64_t cpu = cpu_ns(), start = now_ns(), sent = 0, replies = 0, last = start;
	memset(has_reply, 0, n);
	while (replies < n) {
		uint64_t now = now_ns();
		for (; sent < n && due(start, sent) <= now; sent++) {
			set_number(sent + 1);
			if (!send_message(client_socket)) {
				call_failed(c, "send");
				return;
			}
		}
		int received_replies = receive_replies(c, start, sent, check);
		if (received_replies < 0)
			return;
		replies += (uint64_t)received_replies;
		now = now_ns();
		last = received_replies > 0 || replies == sent ? now : last;
		if (now - last > TIMEOUT_S * UINT64_C(1000000000)) {
			failed_because(c, "recv", "no reply to %llu of %llu requests within %d s", (unsigned long long)(sent - replies),
				       (unsigned long long)sent, TIMEOUT_S);
			return;
		}
		if (replies < n)
			wait_until(sent < n ? due(start, sent) : now + 1000000000, now);
	}
	client_ns = cpu_ns() - cpu;
	wall_ns = now_ns() - start;
}

static void finish(struct context *c, uint64_t n, uint64_t *check)
{
	(void)check;
	check_replies(c, n, wall_ns, client_ns);
}

static uint64_t expect(struct context *c, uint64_t n)
{
	(void)c;
	return n * (n + 1) / 2;
}

static void teardown(struct context *c)
{
	note_cpu_time(c);
	stop_server(c);
}

const struct kernel kernel = {.name = "net/latency",
			      .setup = setup,
			      .run = run,
			      .finish = finish,
			      .expect = expect,
			      .teardown = teardown,
			      .max_n = MAX_REQUESTS};
