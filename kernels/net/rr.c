/* net/tcp/rr, net/udp/rr, net/unix/rr: how long it takes to ask the far end and to be answered, one request at a time.
 *
 * One operation is one round trip of size= bytes each way (request_reply.h), by= tcp or udp. Neither end spins. Each answer must be the one to the
 * request, and the far end must have answered as many as were asked.
 */
#define _GNU_SOURCE
#include "request_reply.h"

static uint64_t near_ns, wall_ns;

static void setup(struct context *c)
{
	start_asking(c);
}

static void run(struct context *c, uint64_t n, uint64_t *check)
{
	uint64_t begun = cpu_ns(), start = now_ns(), sum = 0;
	for (uint64_t i = 1; i <= n; i++) {
		set_number(i);
		if (!gives(asks) || !takes(asks)) {
			lost(c, "request");
			return;
		}
		sum += number_of(message);
	}
	wall_ns = now_ns() - start;
	near_ns = cpu_ns() - begun;
	*check = sum;
}

static void finish(struct context *c, uint64_t n, uint64_t *check)
{
	(void)check;
	look_at_answers(c, n, wall_ns, near_ns);
}

/* 2 to n + 1. */
static uint64_t expect(struct context *c, uint64_t n)
{
	(void)c;
	return n * (n + 3) / 2;
}

static void teardown(struct context *c)
{
	tell_work(c);
	stop_far_end(c);
}

const struct kernel kernel = {
	.name = "net/rr", .setup = setup, .run = run, .finish = finish, .expect = expect, .teardown = teardown};
