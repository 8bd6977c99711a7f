/* ipc/shared-memory/64 and so on: bandwidth of shared memory by message size (POSIX, shared memory).
 *
 * One operation is one message of size= bytes that a process copies into a ring buffer and another copies out of it: two copies, as in a
 * pipe, and no system call unless one must wait. shared.h describes the ways to wait. The clock stops when the last message was copied out.
 * Each message has its number at both ends, which the receiver checks; the last one is compared completely, untimed.
 */
#define _GNU_SOURCE
#include "shared.h"

#define NUMBER sizeof(uint64_t)
#define MAX_BYTES 65536
#define RING_BYTES 65536
#define MIN_SLOTS 4

static struct ring {
	struct common common; /* forward: messages written, backward: messages read */
	struct word done;     /* number of completely checked regions */
	_Atomic uint64_t correct;
	char slot[] __attribute__((aligned(CACHE_LINE_GAP)));
} *ring;

static char message[MAX_BYTES];
static size_t size;
static uint32_t slots, regions;

static char pattern_byte(size_t i)
{
	return (char)(i * 7 + i / 251);
}

static int has_number(uint64_t number)
{
	return memcmp(message, &number, NUMBER) == 0 && memcmp(message + size - NUMBER, &number, NUMBER) == 0;
}

static void serve(void)
{
	uint32_t region = 0;
	for (;;) {
		uint32_t n = next_region(&ring->common, &region);
		uint64_t correct = 0;
		for (uint32_t i = 0; i < n; i++) {
			while (atomic_load_explicit(&ring->common.forward[0].value, memory_order_acquire) == i)
				wait_once();
			memcpy(message, ring->slot + i % slots * size, size);
			CLOBBER();
			correct += has_number(i);
			atomic_store_explicit(&ring->common.backward[0].value, i + 1, memory_order_release);
		}
		correct += has_number(n - 1) ? 2 * NUMBER : 0;
		for (size_t i = NUMBER; i < size - NUMBER; i++)
			correct += message[i] == pattern_byte(i);
		atomic_store(&ring->correct, correct);
		atomic_store(&ring->done.value, region);
	}
}

static void setup(struct context *c)
{
	size = parameter_u64(c, "size", 0);
	if (size < 2 * NUMBER || size > MAX_BYTES)
		wrong_arguments(c, "size=%zu is not between %zu and %d", size, 2 * NUMBER, MAX_BYTES);
	slots = RING_BYTES / size > MIN_SLOTS ? (uint32_t)(RING_BYTES / size) : MIN_SLOTS;
	if (!parse_how(c) || (ring = map_shared(c, sizeof *ring + slots * size)) == NULL)
		return;
	note(c, "slots", "%u", slots);
	for (size_t i = 0; i < size; i++)
		message[i] = pattern_byte(i);
	start_peer(c, serve);
}

static void prepare(struct context *c, uint64_t n)
{
	(void)c;
	regions++;
	atomic_store(&ring->common.forward[0].value, 0);
	atomic_store(&ring->common.backward[0].value, 0);
	begin_region(&ring->common, n);
}

/* Waits until at most `unread` messages are in the ring. Returns 0 if the reader has died. */
static int wait_for_reader(uint32_t written, uint32_t unread)
{
	while (written - atomic_load_explicit(&ring->common.backward[0].value, memory_order_acquire) > unread && !peer_died)
		wait_once();
	return !peer_died;
}

static void run(struct context *c, uint64_t n, uint64_t *check)
{
	(void)check;
	for (uint32_t i = 0; i < n && wait_for_reader(i, slots - 1); i++) {
		uint64_t number = i;
		memcpy(message, &number, NUMBER);
		memcpy(message + size - NUMBER, &number, NUMBER);
		memcpy(ring->slot + i % slots * size, message, size);
		atomic_store_explicit(&ring->common.forward[0].value, i + 1, memory_order_release);
	}
	if (!wait_for_reader((uint32_t)n, 0))
		failed_because(c, "wait", "the reading process has exited");
}

/* Correct messages, plus correct bytes of the last one. */
static void finish(struct context *c, uint64_t n, uint64_t *check)
{
	(void)c;
	(void)n;
	while (atomic_load(&ring->done.value) != regions && !peer_died)
		sched_yield();
	*check = atomic_load(&ring->correct);
}

static uint64_t expect(struct context *c, uint64_t n)
{
	(void)c;
	return n + size;
}

const struct kernel kernel = {
	.name = "ipc/shared-bandwidth",
	.setup = setup,
	.prepare = prepare,
	.run = run,
	.finish = finish,
	.expect = expect,
	.teardown = stop_peer,
	.max_n = 1u << 31,
};
