/* sched/messaging: senders= processes each send to receivers= others, all unpinned. One operation is one message of 100 bytes from each
 * sender to each receiver, through the receiver's UNIX domain socket.
 *
 * Every message carries its number; the sum over all receivers is the check value.
 */
#define _GNU_SOURCE
#include <string.h>
#include <sys/socket.h>

#include "workers.h"

#define MAX_PROCESSES 64
#define SIZE 100

static unsigned senders, receivers;
static int receiver_socket[MAX_PROCESSES][2]; /* read end, and write end of all senders */
static struct {
	_Atomic uint64_t n, sum;
	_Atomic int failed;
} *shared;

static void send_all(void)
{
	char message[SIZE] = "";
	uint64_t n = atomic_load(&shared->n);
	for (uint64_t i = 1; i <= n; i++) {
		memcpy(message, &i, sizeof i);
		for (unsigned r = 0; r < receivers; r++)
			if (write(receiver_socket[r][1], message, SIZE) != SIZE)
				atomic_store(&shared->failed, 1);
	}
}

static void receive_all(int from)
{
	char message[SIZE];
	uint64_t count = atomic_load(&shared->n) * senders, sum = 0;
	for (uint64_t i = 0; i < count; i++) {
		uint64_t number;
		if (recv(from, message, SIZE, MSG_WAITALL) != SIZE) {
			atomic_store(&shared->failed, 1);
			return;
		}
		memcpy(&number, message, sizeof number);
		sum += number;
	}
	atomic_fetch_add(&shared->sum, sum);
}

static void work(unsigned number)
{
	if (number < senders)
		send_all();
	else
		receive_all(receiver_socket[number - senders][0]);
}

static void setup(struct context *c)
{
	senders = (unsigned)parameter_u64(c, "senders", 0);
	receivers = (unsigned)parameter_u64(c, "receivers", 0);
	if (senders < 1 || senders > MAX_PROCESSES || receivers < 1 || receivers > MAX_PROCESSES)
		wrong_arguments(c, "%u senders and %u receivers are not between 1 and %d", senders, receivers, MAX_PROCESSES);
	if ((shared = shared_memory(c, sizeof *shared)) == NULL)
		return;
	for (unsigned r = 0; r < receivers; r++)
		if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, receiver_socket[r]) != 0) {
			failed(c, "socketpair");
			return;
		}
	for (unsigned i = 0; i < senders + receivers; i++)
		add_worker(c, work);
}

static void prepare(struct context *c, uint64_t n)
{
	(void)c;
	atomic_store(&shared->n, n);
	atomic_store(&shared->sum, 0);
}

static void run(struct context *c, uint64_t n, uint64_t *check)
{
	(void)n;
	start_workers();
	join_workers();
	if (atomic_load(&shared->failed))
		failed_because(c, "recv", "a message was truncated");
	*check = atomic_load(&shared->sum);
}

static uint64_t expect(struct context *c, uint64_t n)
{
	(void)c;
	return n * (n + 1) / 2 * senders * receivers;
}

const struct kernel kernel = {
	.name = "sched/messaging",
	.setup = setup,
	.prepare = prepare,
	.run = run,
	.expect = expect,
	.teardown = reap_workers,
};
