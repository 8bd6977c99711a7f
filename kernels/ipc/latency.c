/* ipc/.../latency: round-trip time between two processes by system calls (lmbench-1996, latency of pipes and of local communication).
 *
 * One operation is one round trip: a process sends a message of size= bytes (default 8) with a number at both ends, by= a carrier of
 * channel.h, and blocks; the other receives it completely and replies with the same size and the next number. Neither spins: on one CPU a
 * round trip is two context switches, on two CPUs two wakeups of a possibly idle CPU.
 */
#define _GNU_SOURCE
#include "channel.h"
#include "peer.h"

#define NUMBER sizeof(uint64_t)

static struct message message = {.type = 1};
static size_t size;

/* 0 for a damaged message. */
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
	close_other_end(1);
	while (receive_at(1, &message, size, size)) {
		set_number(number() + 1);
		if (!send_from(1, &message, size))
			return;
	}
}

static void setup(struct context *c)
{
	size = (size_t)parameter_u64(c, "size", NUMBER);
	/* below two numbers' length they would overlap */
	if (size != NUMBER && (size < 2 * NUMBER || size > MAX_BYTES))
		wrong_arguments(c, "size=%zu is neither %zu nor between %zu and %d", size, NUMBER, 2 * NUMBER,
			       MAX_BYTES);
	memset(message.text, 'm', size);
	if (!open_channel(c, parameter(c, "by", ""), size))
		return;
	start_peer(c, serve);
	close_other_end(0);
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
			failed_because(c, "receive", "no reply to message %llu", (unsigned long long)i);
			return;
		}
		sum += number();
	}
	*check = sum;
}

/* Sum of 2 to n + 1. */
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
