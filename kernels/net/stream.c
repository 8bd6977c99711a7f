/* net/tcp/stream: throughput from client to server, over one or several concurrent streams.
 *
 * One operation is one message of size= bytes, sent and received completely. The clock stops when the receiver of every stream has
 * confirmed its last message. Messages consist of 64-bit words, and the message number is added to the first: the receiver checks the
 * sequence, and sums every word. mss= limits the segment size.
 */
#define _GNU_SOURCE
#include "messages.h"

enum { MAX_STREAMS = 256 };

/* A stream with the pipes of its sending process; the client itself sends the first. */
struct stream {
	int socket, orders, replies;
};

static int streams;
static struct stream stream[MAX_STREAMS];

static ssize_t recv_bytes(const void *from, void *to, size_t max)
{
	return recv(*(const int *)from, to, max, 0);
}

static void serve_stream(int s)
{
	struct order order;
	uint64_t before = cpu_ns();
	while (recv_all(s, &order, sizeof order)) {
		struct reply reply = {0};
		if (order.messages > UINT64_MAX / MAX_BYTES)
			server_fail("a stream announces too many messages");
		receive(recv_bytes, &s, &order, &reply);
		uint64_t now = cpu_ns();
		reply.cpu = now - before;
		before = now;
		if (!send_all(s, &reply, sizeof reply))
			server_fail("cannot send a reply: %s", strerror(errno));
	}
}

/* One process per stream; all share the report pipe. */
static void serve(void)
{
	int listener = open_server_socket(SOCK_STREAM);
	for (int i = 0; i < streams; i++) {
		int s = accept_connection(listener);
		pid_t parent = getpid(), pid = i == streams - 1 ? 0 : fork();
		if (pid < 0)
			server_fail("fork: %s", strerror(errno));
		if (pid == 0) {
			if (i < streams - 1 && (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent))
				_exit(1);
			close(listener);
			serve_stream(s);
			if (i < streams - 1)
				_exit(0);
			while (wait(NULL) > 0)
				;
			return;
		}
		close(s);
	}
}

/* Sends the messages of a region and reads the reply. Nagle's algorithm is off at the end, so that the last segment does not wait for an
 * acknowledgment. Returns 0 on failure. */
static int send_messages(int s, uint64_t messages, struct reply *reply)
{
	const struct order order = {.messages = messages, .first = 0};
	uint64_t first = message[0];
	int ok = set_nodelay(s, 0) && send_all(s, &order, sizeof order);
	for (uint64_t i = 0; ok && i < messages; i++) {
		message[0] = first + i;
		ok = send_all(s, message, size);
	}
	message[0] = first;
	return ok && set_nodelay(s, 1) && recv_all(s, reply, sizeof *reply);
}

/* A further sender: receives the number of messages per region, returns the server's reply and its own CPU time. */
static _Noreturn void send_stream(const struct stream *sender)
{
	struct {
		struct reply reply;
		uint64_t cpu;
	} sender_reply;
	uint64_t messages;
	while (read(sender->orders, &messages, sizeof messages) == sizeof messages) {
		uint64_t before = cpu_ns();
		if (!send_messages(sender->socket, messages, &sender_reply.reply))
			_exit(1);
		sender_reply.cpu = cpu_ns() - before;
		if (write(sender->replies, &sender_reply, sizeof sender_reply) != sizeof sender_reply)
			_exit(1);
	}
	_exit(0);
}

static int start_sender(struct context *c, struct stream *sender)
{
	int orders[2], replies[2];
	if (pipe2(orders, O_CLOEXEC) != 0 || pipe2(replies, O_CLOEXEC) != 0) {
		failed(c, "pipe");
		return 0;
	}
	pid_t pid = fork_peer(c);
	if (pid < 0)
		failed(c, "fork");
	if (pid == 0) {
		sender->orders = orders[READ_END];
		sender->replies = replies[WRITE_END];
		close(orders[WRITE_END]);
		send_stream(sender);
	}
	close(orders[READ_END]);
	close(replies[WRITE_END]);
	close(sender->socket);
	sender->orders = orders[WRITE_END];
	sender->replies = replies[READ_END];
	return pid > 0;
}

static void setup(struct context *c)
{
	in_port_t port;
	read_size(c);
	streams = (int)parameter_u64(c, "streams", 1);
	if (streams < 1 || streams > MAX_STREAMS)
		wrong_arguments(c, "streams= is from 1 to %d", MAX_STREAMS);
	make_message();
	if (!make_token(c) || !start_server(c, serve) || !await_port(c, &port))
		return;
	for (int i = 0; i < streams; i++)
		if ((stream[i].socket = connect_server(c, port)) < 0)
			return;
	for (int i = 1; i < streams; i++)
		if (!start_sender(c, &stream[i]))
			return;
}

static uint64_t stream_share(int i, uint64_t n)
{
	return n / (uint64_t)streams + ((uint64_t)i < n % (uint64_t)streams);
}

static uint64_t server_ns, client_ns, wall_ns;

static void run(struct context *c, uint64_t n, uint64_t *check)
{
	struct {
		struct reply reply;
		uint64_t cpu;
	} sender_reply;
	server_ns = client_ns = 0;
	uint64_t cpu_start = cpu_ns(), start = now_ns();
	for (int i = 1; i < streams; i++) {
		uint64_t messages = stream_share(i, n);
		if (write(stream[i].orders, &messages, sizeof messages) != sizeof messages) {
			call_failed(c, "write");
			return;
		}
	}
	for (int i = 0; i < streams; i++) {
		sender_reply.cpu = 0;
		int ok = i == 0 ? send_messages(stream[0].socket, stream_share(0, n), &sender_reply.reply)
				  : read(stream[i].replies, &sender_reply, sizeof sender_reply) == sizeof sender_reply;
		if (!ok) {
			call_failed(c, "send");
			return;
		}
		*check += sender_reply.reply.sum + sender_reply.reply.messages;
		server_ns += sender_reply.reply.cpu;
		client_ns += sender_reply.cpu;
	}
	client_ns += cpu_ns() - cpu_start;
	wall_ns = now_ns() - start;
}

static void finish(struct context *c, uint64_t n, uint64_t *check)
{
	(void)c;
	(void)check;
	add_work(n, wall_ns, client_ns, server_ns);
}

/* The sums of all messages, plus n. */
static uint64_t expect(struct context *c, uint64_t n)
{
	uint64_t sum = 0;
	(void)c;
	for (int i = 0; i < streams; i++)
		sum += expected_sum(stream_share(i, n));
	return sum;
}

static void teardown(struct context *c)
{
	note_cpu_time(c);
	for (int i = 1; i < streams; i++)
		close(stream[i].orders);
	stop_server(c);
}

const struct kernel kernel = {
	.name = "net/stream", .setup = setup, .run = run, .finish = finish, .expect = expect, .teardown = teardown};
