/* net/udp/stream: throughput and loss of datagrams sent at full speed.
 *
 * One operation is DATAGRAMS_PER_OP datagrams of size= bytes received. The server reports its count after each DATAGRAMS_PER_OP over a TCP
 * connection; the client sends until the count suffices. Datagrams consist of 64-bit words: the first holds region and sequence number, the
 * last the sum of all others and the token. The server checks every sum, and that no datagram arrives twice.
 */
#define _GNU_SOURCE
#include "endpoints.h"

enum { DATAGRAMS_PER_OP = 256, MAX_BYTES = 65000, SENDS_BETWEEN = 16, WINDOW = 1 << 20, QUIET_MS = 20 };

/* The client sends an order at the end of a region. A reply before the end of the region is a count only: ends and cpu are 0. */
struct order {
	uint64_t region, sent;
};
struct reply {
	uint64_t region, arrived, ends, cpu;
};

static uint64_t datagram[MAX_BYTES / 8 + 1];
static uint64_t bits[WINDOW / 64]; /* received sequence numbers, the last WINDOW of them */
static uint64_t key, constant_sum, region, client_ns, wall_ns, sent;
static struct reply last_reply;
static size_t size;
static int data, control;

static uint64_t sum_words(const uint64_t *word, size_t words)
{
	uint64_t sum = 0;
	for (size_t i = 0; i < words; i++)
		sum += word[i];
	return sum;
}

/* False for duplicates, and for numbers older than the window. */
static int is_new(uint64_t number, uint64_t *highest)
{
	for (; *highest <= number; ++*highest)
		bits[*highest % WINDOW / 64] &= ~(UINT64_C(1) << *highest % 64);
	uint64_t *word = &bits[number % WINDOW / 64], bit = UINT64_C(1) << number % 64;
	int first = *highest - number <= WINDOW && !(*word & bit);
	*word |= bit;
	return first;
}

static void send_count(const struct reply *reply)
{
	if (!send_all(control, reply, sizeof *reply))
		server_fail("cannot send a reply: %s", strerror(errno));
}

/* Empties the socket; sends a count after each DATAGRAMS_PER_OP. */
static void drain_datagrams(struct reply *count, uint64_t *highest)
{
	size_t words = size / 8;
	for (;;) {
		ssize_t n = recv(data, datagram, sizeof datagram, MSG_DONTWAIT);
		if (n < 0)
			return;
		uint64_t datagram_region = datagram[0] >> 40, number = datagram[0] & ((UINT64_C(1) << 40) - 1);
		if ((size_t)n != size || sum_words(datagram, words - 1) + key != datagram[words - 1])
			server_fail("a datagram is damaged, or does not belong to this launch");
		if (datagram_region != count->region)
			continue; /* late, from an earlier region */
		if (!is_new(number, highest))
			server_fail("datagram %llu arrived twice", (unsigned long long)number);
		if (++count->arrived % DATAGRAMS_PER_OP == 0)
			send_count(count);
	}
}

static void serve(void)
{
	int listener = open_server_socket(SOCK_STREAM);
	control = accept_connection(listener);
	close(listener);
	data = open_server_socket(SOCK_DGRAM);
	struct reply count = {.region = 1};
	uint64_t highest = 0, cpu_start = cpu_ns();
	struct pollfd polled[] = {{.fd = data, .events = POLLIN}, {.fd = control, .events = POLLIN}};
	for (;;) {
		struct order order;
		poll(polled, 2, -1);
		drain_datagrams(&count, &highest);
		if (polled[1].revents == 0)
			continue;
		if (!recv_all(control, &order, sizeof order))
			server_fail("the client has closed its connection");
		if (order.region != count.region)
			server_fail("an order is for region %llu", (unsigned long long)order.region);
		/* datagrams in flight */
		while (count.arrived < order.sent && poll(polled, 1, QUIET_MS) > 0)
			drain_datagrams(&count, &highest);
		uint64_t now = cpu_ns();
		count.ends = 1;
		count.cpu = now - cpu_start;
		send_count(&count);
		count = (struct reply){.region = count.region + 1};
		highest = 0;
		cpu_start = now;
	}
}

static void setup(struct context *c)
{
	in_port_t port;
	struct sockaddr_storage address;
	size = parameter_u64(c, "size", 1472);
	if (size < 24 || size > MAX_BYTES || size % 8 != 0)
		wrong_arguments(c, "size= is a multiple of 8 from 24 to %d", MAX_BYTES);
	for (size_t i = 1; i < size / 8 - 1; i++)
		datagram[i] = i * 0x9e3779b97f4a7c15u;
	if (!make_token(c))
		return;
	memcpy(&key, token, sizeof key);
	constant_sum = sum_words(datagram + 1, size / 8 - 2) + key;
	if (!start_server(c, serve) || !await_port(c, &port) || (control = connect_server(c, port)) < 0 || !await_port(c, &port))
		return;
	socklen_t length = address_of(1, port, &address);
	data = client_datagram_socket();
	if (data < 0 || connect(data, (struct sockaddr *)&address, length) != 0)
		failed(c, "connect");
}

/* Reads the counts that have arrived (MSG_DONTWAIT), or waits for the next. Returns 0 on failure. */
static int receive_count(int flags)
{
	static struct reply reply;
	static size_t have;
	for (;;) {
		ssize_t n = recv(control, (char *)&reply + have, sizeof reply - have, flags);
		if (n < 0 && errno == EAGAIN && flags != 0)
			return 1;
		if (n <= 0)
			return 0;
		have += (size_t)n;
		if (have < sizeof reply)
			continue;
		have = 0;
		if (reply.region == region)
			last_reply = reply;
		if (flags == 0)
			return 1;
	}
}

static void prepare(struct context *c, uint64_t n)
{
	(void)c;
	(void)n;
	region++;
	sent = 0;
	last_reply = (struct reply){0};
}

static void run(struct context *c, uint64_t n, uint64_t *check)
{
	uint64_t cpu_start = cpu_ns(), start = now_ns(), last = start, last_arrived = 0;
	for (; last_reply.arrived < n * DATAGRAMS_PER_OP; sent++) {
		datagram[0] = region << 40 | sent;
		datagram[size / 8 - 1] = constant_sum + datagram[0];
		if (send(data, datagram, size, 0) != (ssize_t)size && errno != ENOBUFS) {
			call_failed(c, "send");
			return;
		}
		if (sent % SENDS_BETWEEN != 0)
			continue;
		if (!receive_count(MSG_DONTWAIT)) {
			call_failed(c, "recv");
			return;
		}
		if (last_reply.arrived > last_arrived) {
			last_arrived = last_reply.arrived;
			last = now_ns();
		} else if (now_ns() - last > TIMEOUT_S * UINT64_C(1000000000)) {
			failed_because(c, "recv", "no datagram has arrived for %d s", TIMEOUT_S);
			return;
		}
	}
	client_ns = cpu_ns() - cpu_start;
	wall_ns = now_ns() - start;
	*check = n;
}

static uint64_t all_sent, all_arrived;

/* The server's final count must be at least the counted, and at most the sent datagrams. */
static void finish(struct context *c, uint64_t n, uint64_t *check)
{
	const struct order order = {region, sent};
	if (!send_all(control, &order, sizeof order)) {
		call_failed(c, "send");
		return;
	}
	while (!last_reply.ends)
		if (!receive_count(0)) {
			call_failed(c, "recv");
			return;
		}
	if (last_reply.arrived < n * DATAGRAMS_PER_OP || last_reply.arrived > sent)
		*check = 0;
	all_sent += sent;
	all_arrived += last_reply.arrived;
	/* CPU time includes datagrams beyond n */
	add_work(last_reply.arrived / DATAGRAMS_PER_OP, wall_ns, client_ns, last_reply.cpu);
}

static uint64_t expect(struct context *c, uint64_t n)
{
	(void)c;
	return n;
}

static void teardown(struct context *c)
{
	note_cpu_time(c);
	if (all_sent > 0)
		note(c, "lost_share", "%.6f", (double)(all_sent - all_arrived) / (double)all_sent);
	stop_server(c);
}

const struct kernel kernel = {.name = "net/datagrams",
			      .setup = setup,
			      .prepare = prepare,
			      .run = run,
			      .finish = finish,
			      .expect = expect,
			      .teardown = teardown};
