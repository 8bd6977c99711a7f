/* net/tcp/latency, net/udp/latency: how long requests take that come at a fixed rate, whether or not those before are answered.
 *
 * One operation is one request of size= bytes (request_reply.h), by= tcp or udp, rate= of which are due each second at absolute times. Its time begins
 * when it is due, so that a delay of either end, or of one that keeps the next ones waiting, is in the times of all that it delays. Requests are
 * answered in sequence by TCP; of datagrams any may come next, and each must come once.
 */
#define _GNU_SOURCE
#include "request_reply.h"

enum { MOST_REQUESTS = 1 << 20 };

static uint64_t rate, near_ns, wall_ns;
static unsigned char is_answered[MOST_REQUESTS];
static char part[MOST_BYTES];
static size_t have; /* of an answer that has not come whole */

static void setup(struct context *c)
{
	rate = parameter_u64(c, "rate", 1000);
	if (rate < 1 || rate > 1000000)
		wrong_arguments(c, "rate= is from 1 to 1000000");
	if (start_asking(c))
		prctl(PR_SET_TIMERSLACK, 1);
}

static uint64_t due(uint64_t begun, uint64_t i)
{
	return begun + i * 1000000000u / rate;
}

/* Takes the answers that are there; how many, or -1 after a failure. */
static int take_answers(struct context *c, uint64_t begun, uint64_t sent, uint64_t *check)
{
	for (int taken = 0;; taken++) {
		ssize_t n = recv(asks, part + have, size - have, MSG_DONTWAIT);
		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			return taken;
		if (n <= 0) {
			lost(c, "recv");
			return -1;
		}
		have += (size_t)n;
		if (have < size) {
			taken--;
			continue;
		}
		have = 0;
		uint64_t now = now_ns(), number = number_of(part) - 1; /* from 1 */
		if (number < 1 || number > sent || is_answered[number - 1]) {
			failed_because(c, "recv", "an answer came twice, or to no request: %llu", (unsigned long long)number);
			return -1;
		}
		is_answered[number - 1] = 1;
		record(c, due(begun, number - 1), now);
		*check += number;
	}
}

/* Until an answer comes, or until the next request is due. */
static void wait_until(uint64_t then, uint64_t now)
{
	struct pollfd comes = {.fd = asks, .events = POLLIN};
	uint64_t ns = then > now ? then - now : 0;
	const struct timespec span = {(time_t)(ns / 1000000000), (long)(ns % 1000000000)};
	ppoll(&comes, 1, &span, NULL);
}

static void run(struct context *c, uint64_t n, uint64_t *check)
{
	uint64_t cpu = cpu_ns(), begun = now_ns(), sent = 0, answered = 0, last = begun;
	memset(is_answered, 0, n);
	while (answered < n) {
		uint64_t now = now_ns();
		for (; sent < n && due(begun, sent) <= now; sent++) {
			set_number(sent + 1);
			if (!gives(asks)) {
				lost(c, "send");
				return;
			}
		}
		int taken = take_answers(c, begun, sent, check);
		if (taken < 0)
			return;
		answered += (uint64_t)taken;
		now = now_ns();
		last = taken > 0 || answered == sent ? now : last;
		if (now - last > PATIENCE_S * UINT64_C(1000000000)) {
			failed_because(c, "recv", "%llu of %llu requests were not answered within %d s", (unsigned long long)(sent - answered),
				       (unsigned long long)sent, PATIENCE_S);
			return;
		}
		if (answered < n)
			wait_until(sent < n ? due(begun, sent) : now + 1000000000, now);
	}
	near_ns = cpu_ns() - cpu;
	wall_ns = now_ns() - begun;
}

static void finish(struct context *c, uint64_t n, uint64_t *check)
{
	(void)check;
	look_at_answers(c, n, wall_ns, near_ns);
}

/* 1 to n. */
static uint64_t expect(struct context *c, uint64_t n)
{
	(void)c;
	return n * (n + 1) / 2;
}

static void teardown(struct context *c)
{
	tell_work(c);
	stop_far_end(c);
}

const struct kernel kernel = {.name = "net/latency",
			      .setup = setup,
			      .run = run,
			      .finish = finish,
			      .expect = expect,
			      .teardown = teardown,
			      .max_n = MOST_REQUESTS};
