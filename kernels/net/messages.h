/* Message streams, sending and receiving: messages consist of 64-bit words, and the message number is added to the first. The receiver
 * checks the sequence, and sums every word.
 */
#ifndef GRITSTONE_NET_MESSAGES_H
#define GRITSTONE_NET_MESSAGES_H

#include "endpoints.h"

enum { CHUNK = 128 << 10, MAX_BYTES = 1 << 20, VECTOR = 4 };

typedef uint64_t vector __attribute__((vector_size(VECTOR * sizeof(uint64_t)), aligned(8), may_alias));

struct order {
	uint64_t messages, first;
};
struct reply {
	uint64_t messages, sum, cpu;
};

static uint64_t message[MAX_BYTES / 8], chunk[CHUNK / 8 + 1];
static size_t size;
static uint64_t message_sum;

static inline uint64_t sum_words(const uint64_t *word, size_t words)
{
	vector lanes = {0}, more = {0};
	uint64_t sum = 0;
	size_t i = 0;
	for (; i + 2 * VECTOR <= words; i += 2 * VECTOR) {
		lanes += *(const vector *)(word + i);
		more += *(const vector *)(word + i + VECTOR);
	}
	for (; i < words; i++)
		sum += word[i];
	lanes += more;
	for (int lane = 0; lane < VECTOR; lane++)
		sum += lanes[lane];
	return sum;
}

static inline void read_size(struct context *c)
{
	size = parameter_u64(c, "size", 131072);
	if (size < 8 || size > MAX_BYTES || size % 8 != 0)
		wrong_arguments(c, "size= is a multiple of 8 up to %d", MAX_BYTES);
}

static inline void make_message(void)
{
	uint64_t word = 19840801;
	for (size_t i = 0; i < size / 8; i++)
		message[i] = word = word * 6364136223846793005u + 1442695040888963407u;
	message_sum = sum_words(message, size / 8);
}

/* Sum of all words of n messages, plus n. */
static inline uint64_t expected_sum(uint64_t n)
{
	return n * message_sum + n + (n > 0 ? n * (n - 1) / 2 : 0);
}

/* Receives the announced messages of one region. */
static inline void receive(ssize_t (*read_bytes)(const void *, void *, size_t), const void *from, const struct order *order, struct reply *reply)
{
	size_t words = size / 8, next = 0, received = 0; /* in the chunk: word offset of the next message, bytes */
	uint64_t left = order->messages * size, number = order->first;
	while (left > 0) {
		size_t space = CHUNK - received, max = left < space ? (size_t)left : space;
		ssize_t n = read_bytes(from, (char *)chunk + received, max);
		if (n <= 0)
			server_fail("a stream was closed %llu bytes early: %s", (unsigned long long)left, n == 0 ? "closed" : strerror(errno));
		left -= (uint64_t)n;
		received += (size_t)n;
		size_t whole = received / 8;
		reply->sum += sum_words(chunk, whole);
		for (; next < whole; next += words, number++)
			if (chunk[next] != message[0] + number)
				server_fail("message %llu of a stream is damaged or out of sequence", (unsigned long long)number);
		next -= whole;
		chunk[0] = chunk[whole];
		received -= whole * 8;
	}
	reply->messages = number - order->first;
}

#endif
