/* ipc/.../64 and so on: how much one process can hand to another by calls of the system, by the size of the messages
 * (lmbench-1996, bandwidth of pipes and of TCP).
 *
 * One operation is one message of size= bytes that a process sends, by= one of the ways in channel.h, and another receives whole; or
 * burst= of them. The clock stops when the receiver has said that it has the last, so that both sides of the copying are in it. Each
 * message has its number at both ends, which the receiver looks at; the last of a region is compared whole, after the clock
 * has stopped. UDP drops what finds no room, so there the receiver acknowledges each burst, and the sender is never more than two ahead.
 */
#define _GNU_SOURCE
#include <sys/mman.h>

#include "channel.h"
#include "peer.h"

#define NUMBER sizeof(uint64_t)
#define BURST_BYTES 32768 /* two of them fit into what the system gives a socket unless it is told otherwise */

static struct message message = {.type = 1}, answer = {.type = 1};
static size_t size;
static uint64_t burst;            /* messages of an operation */
static volatile uint64_t *wanted; /* messages of this region, shared with the receiver */

static char byte_at(size_t i)
{
	return (char)(i * 7 + i / 251);
}

static void set_number(uint64_t number)
{
	memcpy(message.text, &number, NUMBER);
	memcpy(message.text + size - NUMBER, &number, NUMBER);
}

static int has_number(uint64_t number)
{
	return memcmp(message.text, &number, NUMBER) == 0 && memcmp(message.text + size - NUMBER, &number, NUMBER) == 0;
}

static uint64_t right_bytes(uint64_t last)
{
	uint64_t right = has_number(last) ? 2 * NUMBER : 0;
	for (size_t i = NUMBER; i < size - NUMBER; i++)
		right += message.text[i] == byte_at(i);
	return right;
}

static int say(uint64_t number)
{
	memcpy(answer.text, &number, NUMBER);
	return send_from(1, &answer, NUMBER);
}

static int hear(uint64_t *number)
{
	int heard = receive_at(0, &answer, NUMBER, size);
	memcpy(number, answer.text, NUMBER);
	return heard;
}

static void serve(void)
{
	keep_end(1);
	for (;;) {
		uint64_t count = 0, right = 0;
		do {
			if (!receive_at(1, &message, size, size))
				return;
			right += has_number(++count);
			if (channel.lossy && count % burst == 0 && !say(count))
				return;
		} while (count < *wanted);
		if (!say(right) || !say(right_bytes(count)))
			return;
	}
}

static void setup(struct context *c)
{
	size = parameter_u64(c, "size", 0);
	burst = parameter_u64(c, "burst", 1);
	if (size < 2 * NUMBER || size > MOST_BYTES || burst < 1 || (burst > 1 && burst > BURST_BYTES / size))
		wrong_arguments(c, "size=%zu is not between %zu and %d, or burst=%lu of them are none or more than %d bytes",
			       size, 2 * NUMBER, MOST_BYTES, (unsigned long)burst, BURST_BYTES);
	wanted = mmap(NULL, sizeof *wanted, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (wanted == MAP_FAILED) {
		failed(c, "mmap");
		return;
	}
	for (size_t i = 0; i < size; i++)
		message.text[i] = byte_at(i);
	if (!open_channel(c, parameter(c, "by", ""), size))
		return;
	start_peer(c, serve);
	keep_end(0);
}

static void prepare(struct context *c, uint64_t n)
{
	(void)c;
	*wanted = n * burst;
}

static int send_burst(struct context *c, uint64_t sent)
{
	for (uint64_t i = sent + 1; i <= sent + burst; i++) {
		set_number(i);
		if (!send_from(0, &message, size)) {
			failed(c, "send");
			return 0;
		}
	}
	return 1;
}

/* Whether a burst has come, where that is not certain. */
static int is_acknowledged(struct context *c, uint64_t number)
{
	uint64_t heard = 0;
	if (!channel.lossy || (hear(&heard) && heard == number * burst))
		return 1;
	failed_because(c, "receive", "a message of burst %lu was lost", (unsigned long)number);
	return 0;
}

static void run(struct context *c, uint64_t n, uint64_t *check)
{
	for (uint64_t i = 0; i < n; i++)
		if (!send_burst(c, i * burst) || (i > 0 && !is_acknowledged(c, i)))
			return;
	if (is_acknowledged(c, n) && !hear(check))
		failed_because(c, "receive", "the receiver does not say that it has the last message");
}

/* The messages that were right, and the bytes of the last of them. */
static void finish(struct context *c, uint64_t n, uint64_t *check)
{
	uint64_t right;
	(void)n;
	if (!hear(&right))
		failed_because(c, "receive", "the receiver does not say what the last message was");
	*check += right;
}

static uint64_t expect(struct context *c, uint64_t n)
{
	(void)c;
	return n * burst + size;
}

const struct kernel kernel = {
	.name = "ipc/bandwidth",
	.setup = setup,
	.prepare = prepare,
	.run = run,
	.finish = finish,
	.expect = expect,
	.teardown = stop_peer,
};
