/* net/udp/stream: how many datagrams arrive when they are sent as quickly as possible, and what share of them is lost.
 *
 * One operation is PER_OP datagrams of size= bytes that have arrived. The far end says after each PER_OP how many it has, on a connection of TCP;
 * the near end sends until enough of them have come. Datagrams are words of 64 bits; the first says of which region it is and which number it has,
 * the last is the sum of all others and of the token. The far end looks at every sum, and that none comes twice.
 */
#define _GNU_SOURCE
#include "endpoints.h"

enum { PER_OP = 256, MOST_BYTES = 65000, SENDS_BETWEEN = 16, WINDOW = 1 << 20, QUIET_MS = 20 };

/* What the near end says at the end of a region, and what the far end answers; a count on its own has the others 0. */
struct order {
	uint64_t region, sent;
};
struct answer {
	uint64_t region, arrived, ends, cpu;
};

static uint64_t datagram[MOST_BYTES / 8 + 1];
static uint64_t bits[WINDOW / 64]; /* numbers that have come, the last WINDOW of them */
static uint64_t key, rest_sum, region, near_ns, wall_ns, sent;
static struct answer last_said;
static size_t size;
static int data, control;

static uint64_t words_sum(const uint64_t *word, size_t words)
{
	uint64_t sum = 0;
	for (size_t i = 0; i < words; i++)
		sum += word[i];
	return sum;
}

/* Whether a number is the first of its kind; one that is too old to tell is not. */
static int is_new(uint64_t number, uint64_t *highest)
{
	for (; *highest <= number; ++*highest)
		bits[*highest % WINDOW / 64] &= ~(UINT64_C(1) << *highest % 64);
	uint64_t *of = &bits[number % WINDOW / 64], bit = UINT64_C(1) << number % 64;
	int first = *highest - number <= WINDOW && !(*of & bit);
	*of |= bit;
	return first;
}

static void say(const struct answer *answer)
{
	if (!writes_all(control, answer, sizeof *answer))
		complain("it cannot answer: %s", strerror(errno));
}

/* Takes what is there; says how many there are after each PER_OP. */
static void take_datagrams(struct answer *own, uint64_t *highest)
{
	size_t words = size / 8;
	for (;;) {
		ssize_t n = recv(data, datagram, sizeof datagram, MSG_DONTWAIT);
		if (n < 0)
			return;
		uint64_t of = datagram[0] >> 40, number = datagram[0] & ((UINT64_C(1) << 40) - 1);
		if ((size_t)n != size || words_sum(datagram, words - 1) + key != datagram[words - 1])
			complain("a datagram is damaged, or of a stranger");
		if (of != own->region)
			continue; /* it is late */
		if (!is_new(number, highest))
			complain("datagram %llu came twice", (unsigned long long)number);
		if (++own->arrived % PER_OP == 0)
			say(own);
	}
}

static void serve(void)
{
	int listener = open_far(SOCK_STREAM);
	control = take_connection(listener);
	close(listener);
	data = open_far(SOCK_DGRAM);
	struct answer own = {.region = 1};
	uint64_t highest = 0, begun = cpu_ns();
	struct pollfd comes[] = {{.fd = data, .events = POLLIN}, {.fd = control, .events = POLLIN}};
	for (;;) {
		struct order order;
		poll(comes, 2, -1);
		take_datagrams(&own, &highest);
		if (comes[1].revents == 0)
			continue;
		if (!reads_all(control, &order, sizeof order))
			complain("the near end has gone");
		if (order.region != own.region)
			complain("an order is of region %llu", (unsigned long long)order.region);
		/* what is still on its way */
		while (own.arrived < order.sent && poll(comes, 1, QUIET_MS) > 0)
			take_datagrams(&own, &highest);
		uint64_t now = cpu_ns();
		own.ends = 1;
		own.cpu = now - begun;
		say(&own);
		own = (struct answer){.region = own.region + 1};
		highest = 0;
		begun = now;
	}
}

static void setup(struct context *c)
{
	in_port_t port;
	struct sockaddr_storage address;
	size = parameter_u64(c, "size", 1472);
	if (size < 24 || size > MOST_BYTES || size % 8 != 0)
		wrong_arguments(c, "size= is a multiple of 8 from 24 to %d", MOST_BYTES);
	for (size_t i = 1; i < size / 8 - 1; i++)
		datagram[i] = i * 0x9e3779b97f4a7c15u;
	if (!make_token(c))
		return;
	memcpy(&key, token, sizeof key);
	rest_sum = words_sum(datagram + 1, size / 8 - 2) + key;
	if (!start_far_end(c, serve) || !far_port(c, &port) || (control = connect_far(c, port)) < 0 || !far_port(c, &port))
		return;
	socklen_t length = address_of(1, port, &address);
	data = near_datagrams();
	if (data < 0 || connect(data, (struct sockaddr *)&address, length) != 0)
		failed(c, "connect");
}

/* What the far end has said by now of this region; without MSG_DONTWAIT, the next that it says. 0 after a failure. */
static int hear(int flags)
{
	static struct answer said;
	static size_t have;
	for (;;) {
		ssize_t n = recv(control, (char *)&said + have, sizeof said - have, flags);
		if (n < 0 && errno == EAGAIN && flags != 0)
			return 1;
		if (n <= 0)
			return 0;
		have += (size_t)n;
		if (have < sizeof said)
			continue;
		have = 0;
		if (said.region == region)
			last_said = said;
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
	last_said = (struct answer){0};
}

static void run(struct context *c, uint64_t n, uint64_t *check)
{
	uint64_t begun = cpu_ns(), start = now_ns(), last = start, had = 0;
	for (; last_said.arrived < n * PER_OP; sent++) {
		datagram[0] = region << 40 | sent;
		datagram[size / 8 - 1] = rest_sum + datagram[0];
		if (send(data, datagram, size, 0) != (ssize_t)size && errno != ENOBUFS) {
			lost(c, "send");
			return;
		}
		if (sent % SENDS_BETWEEN != 0)
			continue;
		if (!hear(MSG_DONTWAIT)) {
			lost(c, "recv");
			return;
		}
		if (last_said.arrived > had) {
			had = last_said.arrived;
			last = now_ns();
		} else if (now_ns() - last > PATIENCE_S * UINT64_C(1000000000)) {
			failed_because(c, "recv", "no datagram has arrived for %d s", PATIENCE_S);
			return;
		}
	}
	near_ns = cpu_ns() - begun;
	wall_ns = now_ns() - start;
	*check = n;
}

static uint64_t all_sent, all_arrived;

/* All that has arrived, whole and once, for which the far end answers: not less than was counted, and not more than was sent. */
static void finish(struct context *c, uint64_t n, uint64_t *check)
{
	const struct order order = {region, sent};
	if (!writes_all(control, &order, sizeof order)) {
		lost(c, "send");
		return;
	}
	while (!last_said.ends)
		if (!hear(0)) {
			lost(c, "recv");
			return;
		}
	if (last_said.arrived < n * PER_OP || last_said.arrived > sent)
		*check = 0;
	all_sent += sent;
	all_arrived += last_said.arrived;
	/* both ends have worked for what came beyond n, too */
	add_work(last_said.arrived / PER_OP, wall_ns, near_ns, last_said.cpu);
}

static uint64_t expect(struct context *c, uint64_t n)
{
	(void)c;
	return n;
}

static void teardown(struct context *c)
{
	tell_work(c);
	if (all_sent > 0)
		note(c, "lost_share", "%.6f", (double)(all_sent - all_arrived) / (double)all_sent);
	stop_far_end(c);
}

const struct kernel kernel = {.name = "net/datagrams",
			      .setup = setup,
			      .prepare = prepare,
			      .run = run,
			      .finish = finish,
			      .expect = expect,
			      .teardown = teardown};
