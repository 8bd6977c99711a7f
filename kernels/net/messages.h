/* Streams of messages, for both of their ends: words of 64 bits, the first of which has the number of the message added to it. The receiver looks
 * whether the numbers come in sequence, and sums up every word that it reads.
 */
#ifndef GRITSTONE_NET_MESSAGES_H
#define GRITSTONE_NET_MESSAGES_H

#include "endpoints.h"

enum { CHUNK = 128 << 10, MOST_BYTES = 1 << 20, VECTOR = 4 };

typedef uint64_t vector __attribute__((vector_size(VECTOR * sizeof(uint64_t)), aligned(8), may_alias));

/* What a sender announces, and what it is answered. */
struct order {
	uint64_t messages, first;
};
struct answer {
	uint64_t messages, sum, cpu;
};

static uint64_t message[MOST_BYTES / 8], chunk[CHUNK / 8 + 1];
static size_t size;
static uint64_t message_sum;

static inline uint64_t sum_of(const uint64_t *word, size_t words)
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

/* Parameter size=. */
static inline void read_size(struct context *c)
{
	size = parameter_u64(c, "size", 131072);
	if (size < 8 || size > MOST_BYTES || size % 8 != 0)
		wrong_arguments(c, "size= is a multiple of 8 up to %d", MOST_BYTES);
}

static inline void make_message(void)
{
	uint64_t word = 19840801;
	for (size_t i = 0; i < size / 8; i++)
		message[i] = word = word * 6364136223846793005u + 1442695040888963407u;
	message_sum = sum_of(message, size / 8);
}

/* What n messages of a stream come to, with how many there are. */
static inline uint64_t right_answer(uint64_t n)
{
	return n * message_sum + n + (n > 0 ? n * (n - 1) / 2 : 0);
}

/* One region of a stream: takes what is there, as recv(2) does, until the messages that were announced have come. */
static inline void receive(ssize_t (*take)(const void *, void *, size_t), const void *from, const struct order *order, struct answer *answer)
{
	size_t words = size / 8, next = 0, have = 0; /* of the chunk: where a message begins, bytes */
	uint64_t left = order->messages * size, number = order->first;
	while (left > 0) {
		size_t room = CHUNK - have, most = left < room ? (size_t)left : room;
		ssize_t n = take(from, (char *)chunk + have, most);
		if (n <= 0)
			complain("a stream ended %llu bytes early: %s", (unsigned long long)left, n == 0 ? "closed" : strerror(errno));
		left -= (uint64_t)n;
		have += (size_t)n;
		size_t whole = have / 8;
		answer->sum += sum_of(chunk, whole);
		for (; next < whole; next += words, number++)
			if (chunk[next] != message[0] + number)
				complain("message %llu of a stream is not the one that was sent", (unsigned long long)number);
		next -= whole;
		chunk[0] = chunk[whole];
		have -= whole * 8;
	}
	answer->messages = number - order->first;
}

#endif
