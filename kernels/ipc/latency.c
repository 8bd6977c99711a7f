/* ipc/.../latency: how long it takes to ask another process and to be answered, by calls of the system (lmbench-1996, latency of
 * pipes and of local communication).
 *
 * One operation is one round trip: a process sends a message of size= bytes (8 unless given) with a number at both ends, by= one of
 * the ways in channel.h, and waits; another, which waits for all of it, sends as much back, with the next number. Neither spins: on
 * one CPU a round trip is two switches, on two it is two wakings of a CPU that may be asleep.
 */
#define _GNU_SOURCE
#include "channel.h"
#include "peer.h"

#define NUMBER sizeof(uint64_t)

static struct message message = {.type = 1};
static size_t size;

/* Of a message that is whole; 0 of one that is not. */
static uint64_t number(void)
{
	uint64_t first, last;
	memcpy(&first, message.text, NUMBER);
	memcpy(&last, message.text + size - NUMBER, NUMBER);
	return first == last ? first : 0;
}

static void set_number(uint64_t number)
{
	memcpy(message.text, &number, NUMBER);
	memcpy(message.text + size - NUMBER, &number, NUMBER);
}

static void serve(void)
{
	keep_end(1);
	while (receive_at(1, &message, size, size)) {
		set_number(number() + 1);
		if (!send_from(1, &message, size))
			return;
	}
}

static void setup(struct context *c)
{
	size = (size_t)parameter_u64(c, "size", NUMBER);
	/* between one number and two, the last would lie across the first */
	if (size != NUMBER && (size < 2 * NUMBER || size > MOST_BYTES))
		wrong_arguments(c, "size=%zu is neither %zu nor between %zu and %d", size, NUMBER, 2 * NUMBER,
			       MOST_BYTES);
	memset(message.text, 'm', size);
	if (!open_channel(c, parameter(c, "by", ""), size))
		return;
	start_peer(c, serve);
	keep_end(0);
}

static void run(struct context *c, uint64_t n, uint64_t *check)
{
	uint64_t sum = 0;
	for (uint64_t i = 1; i <= n; i++) {
		set_number(i);
		if (!send_from(0, &message, size)) {
			failed(c, "send");
			return;
		}
		if (!receive_at(0, &message, size, size)) {
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
