/* net/tcp/stream: how much goes from one end to the other, in one stream or in several at once.
 *
 * One operation is one message of size= bytes that is sent, and received whole. The clock stops when the receiver of every stream has said
 * that it has the last. A message is words of 64 bits, the first of which has its number added to it: the receiver looks whether the numbers come in
 * sequence, and sums up every word that it reads. mss= is the most bytes of a segment.
 */
#define _GNU_SOURCE
#include "messages.h"

enum { MOST_STREAMS = 256 };

/* A stream with the process that sends it; the first is the near end itself. */
struct stream {
	int socket, orders, answers;
};

static int streams;
static struct stream stream[MOST_STREAMS];

static ssize_t take(const void *from, void *to, size_t most)
{
	return recv(*(const int *)from, to, most, 0);
}

/* Receives one stream, region by region. */
static void serve_stream(int s)
{
	struct order order;
	uint64_t before = cpu_ns();
	while (reads_all(s, &order, sizeof order)) {
		struct answer answer = {0};
		if (order.messages > UINT64_MAX / MOST_BYTES)
			complain("a stream announces more than there can be");
		receive(take, &s, &order, &answer);
		uint64_t now = cpu_ns();
		answer.cpu = now - before;
		before = now;
		if (!writes_all(s, &answer, sizeof answer))
			complain("it cannot answer: %s", strerror(errno));
	}
}

/* A process for each stream; all of them complain in the same place. */
static void serve(void)
{
	int listener = open_far(SOCK_STREAM);
	for (int i = 0; i < streams; i++) {
		int s = take_connection(listener);
		pid_t parent = getpid(), pid = i == streams - 1 ? 0 : fork();
		if (pid < 0)
			complain("fork: %s", strerror(errno));
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

/* Sends the messages of a region, and takes the answer; 0 after a failure. The end of a region does not wait until small segments are
 * acknowledged. */
static int send_messages(int s, uint64_t messages, struct answer *answer)
{
	const struct order order = {.messages = messages, .first = 0};
	uint64_t first = message[0];
	int well = without_delay(s, 0) && writes_all(s, &order, sizeof order);
	for (uint64_t i = 0; well && i < messages; i++) {
		message[0] = first + i;
		well = writes_all(s, message, size);
	}
	message[0] = first;
	return well && without_delay(s, 1) && reads_all(s, answer, sizeof *answer);
}

/* A further sender: an order is the messages of a region, and the answer has its CPU time behind it. */
static _Noreturn void send_stream(const struct stream *of)
{
	struct {
		struct answer answer;
		uint64_t cpu;
	} said;
	uint64_t messages;
	while (read(of->orders, &messages, sizeof messages) == sizeof messages) {
		uint64_t before = cpu_ns();
		if (!send_messages(of->socket, messages, &said.answer))
			_exit(1);
		said.cpu = cpu_ns() - before;
		if (write(of->answers, &said, sizeof said) != sizeof said)
			_exit(1);
	}
	_exit(0);
}

static int start_sender(struct context *c, struct stream *of)
{
	int orders[2], answers[2];
	if (pipe2(orders, O_CLOEXEC) != 0 || pipe2(answers, O_CLOEXEC) != 0) {
		failed(c, "pipe");
		return 0;
	}
	pid_t pid = fork_peer(c);
	if (pid < 0)
		failed(c, "fork");
	if (pid == 0) {
		of->orders = orders[READS];
		of->answers = answers[WRITES];
		close(orders[WRITES]);
		send_stream(of);
	}
	close(orders[READS]);
	close(answers[WRITES]);
	close(of->socket);
	of->orders = orders[WRITES];
	of->answers = answers[READS];
	return pid > 0;
}

static void setup(struct context *c)
{
	in_port_t port;
	read_size(c);
	streams = (int)parameter_u64(c, "streams", 1);
	if (streams < 1 || streams > MOST_STREAMS)
		wrong_arguments(c, "streams= is from 1 to %d", MOST_STREAMS);
	make_message();
	if (!make_token(c) || !start_far_end(c, serve) || !far_port(c, &port))
		return;
	for (int i = 0; i < streams; i++)
		if ((stream[i].socket = connect_far(c, port)) < 0)
			return;
	for (int i = 1; i < streams; i++)
		if (!start_sender(c, &stream[i]))
			return;
}

/* Of n messages, those that a stream has. */
static uint64_t share_of(int i, uint64_t n)
{
	return n / (uint64_t)streams + ((uint64_t)i < n % (uint64_t)streams);
}

static uint64_t far_ns, near_ns, wall_ns;

static void run(struct context *c, uint64_t n, uint64_t *check)
{
	struct {
		struct answer answer;
		uint64_t cpu;
	} said;
	far_ns = near_ns = 0;
	uint64_t begun = cpu_ns(), start = now_ns();
	for (int i = 1; i < streams; i++) {
		uint64_t messages = share_of(i, n);
		if (write(stream[i].orders, &messages, sizeof messages) != sizeof messages) {
			lost(c, "write");
			return;
		}
	}
	for (int i = 0; i < streams; i++) {
		said.cpu = 0;
		int well = i == 0 ? send_messages(stream[0].socket, share_of(0, n), &said.answer)
				  : read(stream[i].answers, &said, sizeof said) == sizeof said;
		if (!well) {
			lost(c, "send");
			return;
		}
		*check += said.answer.sum + said.answer.messages;
		far_ns += said.answer.cpu;
		near_ns += said.cpu;
	}
	near_ns += cpu_ns() - begun;
	wall_ns = now_ns() - start;
}

static void finish(struct context *c, uint64_t n, uint64_t *check)
{
	(void)c;
	(void)check;
	add_work(n, wall_ns, near_ns, far_ns);
}

/* The sums of all messages, and how many there are. */
static uint64_t expect(struct context *c, uint64_t n)
{
	uint64_t right = 0;
	(void)c;
	for (int i = 0; i < streams; i++)
		right += right_answer(share_of(i, n));
	return right;
}

static void teardown(struct context *c)
{
	tell_work(c);
	for (int i = 1; i < streams; i++)
		close(stream[i].orders);
	stop_far_end(c);
}

const struct kernel kernel = {
	.name = "net/stream", .setup = setup, .run = run, .finish = finish, .expect = expect, .teardown = teardown};
