/* ipc/.../latency: how long it takes to ask another process and to be answered, by calls of the system (lmbench-1996, latency of
 * pipes and of local communication).
 *
 * One operation is one round trip: a process sends a message of 8 bytes with a number in it, by= one of the ways in channel.h,
 * and waits; another, which waits for it, sends the next number back. Neither spins: on one CPU a round trip is two switches, on two
 * it is two wakings of a CPU that may be asleep.
 */
#define _GNU_SOURCE
#include "channel.h"
#include "peer.h"

#define SIZE sizeof(uint64_t)

static struct message message = {.type = 1};

static uint64_t number(void)
{
	uint64_t number;
	memcpy(&number, message.text, SIZE);
	return number;
}

static void set_number(uint64_t number)
{
	memcpy(message.text, &number, SIZE);
}

static void serve(void)
{
	keep_end(1);
	while (receive_at(1, &message, SIZE, SIZE)) {
		set_number(number() + 1);
		if (!send_from(1, &message, SIZE))
			return;
	}
}

static void setup(struct context *c)
{
	if (!open_channel(c, parameter(c, "by", ""), SIZE))
		return;
	start_peer(c, serve);
	keep_end(0);
}

static void run(struct context *c, uint64_t n, uint64_t *check)
{
	uint64_t sum = 0;
	for (uint64_t i = 1; i <= n; i++) {
		set_number(i);
		if (!send_from(0, &message, SIZE)) {
			failed(c, "send");
			return;
		}
		if (!receive_at(0, &message, SIZE, SIZE)) {
			failed_because(c, "receive", "message %llu is not answered", (unsigned long long)i);
			return;
		}
		sum += number();
	}
	*check = sum;
}

/* 2 to n + 1. */
static uint64_t expect(struct context *c, uint64_t n)
{
	(void)c;
	return n * (n + 3) / 2;
}

const struct kernel kernel = {
	.name = "ipc/latency",
	.setup = setup,
	.run = run,
	.expect = expect,
	.teardown = stop_peer,
};
