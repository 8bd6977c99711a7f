/* ipc/.../64 and so on: bandwidth of interprocess communication by message size (lmbench-1996, bandwidth of pipes and of TCP).
 *
 * One operation is one message of size= bytes, or burst= of them, sent by one process and received completely by another, by= a carrier of
 * channel.h. The clock stops when the receiver has confirmed the last message, so that both copies are included. Each message has its
 * number at both ends, which the receiver checks; the last message of a region is compared completely, untimed. Since UDP drops datagrams
 * on overflow, the receiver acknowledges each burst, and the sender is at most two bursts ahead.
 */
#define _GNU_SOURCE
#include <sys/mman.h>

#include "channel.h"
#include "peer.h"

#define NUMBER sizeof(uint64_t)
#define BURST_BYTES 32768 /* two bursts fit into a default socket buffer */

static struct message message = {.type = 1}, reply = {.type = 1};
static size_t size;
static uint64_t burst; /* messages per operation */
static volatile uint64_t *region_messages; /* shared with the receiver */

static char pattern_byte(size_t i)
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

static uint64_t count_right_bytes(uint64_t last)
{
	uint64_t correct = has_number(last) ? 2 * NUMBER : 0;
	for (size_t i = NUMBER; i < size - NUMBER; i++)
		correct += message.text[i] == pattern_byte(i);
	return correct;
}

static int send_count(uint64_t number)
{
	memcpy(reply.text, &number, NUMBER);
	return send_from(1, &reply, NUMBER);
}

static int receive_count(uint64_t *number)
{
	int heard = receive_at(0, &reply, NUMBER, size);
	memcpy(number, reply.text, NUMBER);
	return heard;
}

static void serve(void)
{
	close_other_end(1);
	for (;;) {
		uint64_t count = 0, correct = 0;
		do {
			if (!receive_at(1, &message, size, size))
				return;
			correct += has_number(++count);
			if (channel.lossy && count % burst == 0 && !send_count(count))
				return;
		} while (count < *region_messages);
		if (!send_count(correct) || !send_count(count_right_bytes(count)))
			return;
	}
}

static void setup(struct context *c)
{
	size = parameter_u64(c, "size", 0);
	burst = parameter_u64(c, "burst", 1);
	if (size < 2 * NUMBER || size > MAX_BYTES || burst < 1 || (burst > 1 && burst > BURST_BYTES / size))
		wrong_arguments(c, "size=%zu is not between %zu and %d, or burst=%lu is 0 or more than %d bytes",
			       size, 2 * NUMBER, MAX_BYTES, (unsigned long)burst, BURST_BYTES);
	region_messages = mmap(NULL, sizeof *region_messages, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (region_messages == MAP_FAILED) {
		failed(c, "mmap");
		return;
	}
	for (size_t i = 0; i < size; i++)
		message.text[i] = pattern_byte(i);
	if (!open_channel(c, parameter(c, "by", ""), size))
		return;
	start_peer(c, serve);
	close_other_end(0);
}

static void prepare(struct context *c, uint64_t n)
{
	(void)c;
	*region_messages = n * burst;
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

/* Waits for the acknowledgment on a lossy carrier. */
static int is_acknowledged(struct context *c, uint64_t number)
{
	uint64_t heard = 0;
	if (!channel.lossy || (receive_count(&heard) && heard == number * burst))
		return 1;
	failed_because(c, "receive", "a message of burst %lu was lost", (unsigned long)number);
	return 0;
}

static void run(struct context *c, uint64_t n, uint64_t *check)
{
	for (uint64_t i = 0; i < n; i++)
		if (!send_burst(c, i * burst) || (i > 0 && !is_acknowledged(c, i)))
			return;
	if (is_acknowledged(c, n) && !receive_count(check))
		failed_because(c, "receive", "the receiver did not confirm the last message");
}

/* Correct messages, plus correct bytes of the last one. */
static void finish(struct context *c, uint64_t n, uint64_t *check)
{
	uint64_t correct;
	(void)n;
	if (!receive_count(&correct))
		failed_because(c, "receive", "the receiver did not report on the last message");
	*check += correct;
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
