/* sched/messaging: senders= processes each send to receivers= others, where the scheduler puts them all. One operation is one message
 * of 100 bytes by each sender to each receiver, through the receiver's UNIX domain socket.
 *
 * Every message carries its number; what each receiver adds up is compared with the sum of what was sent to it.
 */
#define _GNU_SOURCE
#include <string.h>
#include <sys/socket.h>

#include "workers.h"

#define MOST 64
#define SIZE 100

static unsigned senders, receivers;
static int socket_of[MOST][2]; /* of a receiver: where it reads, and where all write */
static struct {
	_Atomic uint64_t n, sum;
	_Atomic int broken;
} *all;

static void send_all(void)
{
	char message[SIZE] = "";
	uint64_t n = atomic_load(&all->n);
	for (uint64_t i = 1; i <= n; i++) {
		memcpy(message, &i, sizeof i);
		for (unsigned r = 0; r < receivers; r++)
			if (write(socket_of[r][1], message, SIZE) != SIZE)
				atomic_store(&all->broken, 1);
	}
}

static void receive_all(int from)
{
	char message[SIZE];
	uint64_t count = atomic_load(&all->n) * senders, sum = 0;
	for (uint64_t i = 0; i < count; i++) {
		uint64_t number;
		if (recv(from, message, SIZE, MSG_WAITALL) != SIZE) {
			atomic_store(&all->broken, 1);
			return;
		}
		memcpy(&number, message, sizeof number);
		sum += number;
	}
	atomic_fetch_add(&all->sum, sum);
}

static void work(unsigned number)
{
	if (number < senders)
		send_all();
	else
		receive_all(socket_of[number - senders][0]);
}

static void setup(struct context *c)
{
	senders = (unsigned)parameter_u64(c, "senders", 0);
	receivers = (unsigned)parameter_u64(c, "receivers", 0);
	if (senders < 1 || senders > MOST || receivers < 1 || receivers > MOST)
		wrong_arguments(c, "%u senders and %u receivers are not between 1 and %d", senders, receivers, MOST);
	if ((all = shared_memory(c, sizeof *all)) == NULL)
		return;
	for (unsigned r = 0; r < receivers; r++)
		if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, socket_of[r]) != 0) {
			failed(c, "socketpair");
			return;
		}
	for (unsigned i = 0; i < senders + receivers; i++)
		add_worker(c, work);
}

static void prepare(struct context *c, uint64_t n)
{
	(void)c;
	atomic_store(&all->n, n);
	atomic_store(&all->sum, 0);
}

static void run(struct context *c, uint64_t n, uint64_t *check)
{
	(void)n;
	start_workers();
	join_workers();
	if (atomic_load(&all->broken))
		failed_because(c, "recv", "a message did not arrive whole");
	*check = atomic_load(&all->sum);
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
