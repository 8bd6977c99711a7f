/* rt/message/...: latency from sending a message to the wakeup of a receiver of higher priority (hp-1987, tables 5.9 and 5.10).
 *
 * One operation: the sender, of lower priority, sends a message of size= bytes; the receiver, blocked in its call, is dispatched on the
 * same CPU and has the message. Timed from just before the sending call to just after the receiving call. how=system-v: msgsnd and msgrcv,
 * as in the document. posix: mq_send and mq_receive. futex: copies through shared memory, and a futex wakeup. Every byte of a message is
 * the low byte of its number; the last byte is summed.
 */
#define _GNU_SOURCE
#include <mqueue.h>
#include <stdio.h>
#include <sys/ipc.h>
#include <sys/msg.h>

#include "handover.h"

#define MAX_SIZE 512

static size_t size;
static ssize_t length; /* of the received message */
static int queue = -1;
static mqd_t posix_queue = (mqd_t)-1;
static struct {
	long type;
	unsigned char text[MAX_SIZE];
} sent, received;

static void fill(uint64_t number)
{
	memset(sent.text, (int)(number & 0xff), size);
}

static int read_number(uint64_t *number)
{
	if ((size_t)length != size || received.text[0] != received.text[size - 1]) {
		errno = EBADMSG;
		return -1;
	}
	*number = received.text[size - 1];
	return 0;
}

static void create_queue(struct context *c)
{
	queue = msgget(IPC_PRIVATE, 0600);
	sent.type = 1;
	if (queue < 0)
		failed(c, "msgget");
}

static int send_queue(uint64_t number)
{
	(void)number;
	return msgsnd(queue, &sent, size, 0);
}

static int receive_queue(void)
{
	length = msgrcv(queue, &received, sizeof received.text, 0, 0);
	return length < 0 ? -1 : 0;
}

static void create_posix(struct context *c)
{
	struct mq_attr attributes = {.mq_maxmsg = 1, .mq_msgsize = (long)size};
	char name[64];
	snprintf(name, sizeof name, "/gritstone.%ld", (long)getpid());
	posix_queue = mq_open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600, &attributes);
	if (posix_queue == (mqd_t)-1)
		failed(c, "mq_open");
	else if (mq_unlink(name) != 0)
		failed(c, "mq_unlink");
}

static int send_posix(uint64_t number)
{
	(void)number;
	return mq_send(posix_queue, (const char *)sent.text, size, 0);
}

static int receive_posix(void)
{
	length = mq_receive(posix_queue, (char *)received.text, sizeof received.text, NULL);
	return length < 0 ? -1 : 0;
}

static int send_futex(uint64_t number)
{
	memcpy(shared->buffer, sent.text, size);
	return post_futex(number);
}

static int receive_futex(void)
{
	wait_futex();
	memcpy(received.text, shared->buffer, size);
	length = (ssize_t)size;
	return 0;
}

static const struct primitive primitives[] = {
	{"system-v", 1, create_queue, send_queue, receive_queue, fill, read_number},
	{"posix", 1, create_posix, send_posix, receive_posix, fill, read_number},
	{"futex", 0, create_futex, send_futex, receive_futex, fill, read_number},
	{.name = NULL},
};

static void setup(struct context *c)
{
	size = (size_t)parameter_u64(c, "size", 0);
	if (size == 0 || size > MAX_SIZE)
		wrong_arguments(c, "size=%zu is not between 1 and %d", size, MAX_SIZE);
	else
		setup_handover(c, primitives);
}

/* Sum of the low bytes of 1 to n: any 256 successive ones add up to 255 * 128. */
static uint64_t expect(struct context *c, uint64_t n)
{
	uint64_t rest = n % 256;
	(void)c;
	return n / 256 * (255 * 128) + rest * (rest + 1) / 2;
}

static void teardown(struct context *c)
{
	teardown_handover(c);
	if (queue >= 0 && msgctl(queue, IPC_RMID, NULL) != 0)
		failed(c, "msgctl");
}

const struct kernel kernel = {
	.name = "rt/message",
	.setup = setup,
	.run = wait_all,
	.expect = expect,
	.teardown = teardown,
};
