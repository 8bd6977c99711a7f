/* rt/turnaround-driver/hpib and pic: time from the completion of a request to the start of the next pending one (hp-1987, tables 5.5 and
 * 5.6).
 *
 * As in the document, several forked processes write requests to one device, which handles one at a time: the others are pending, asleep in
 * their write. This process is the device. One operation: it completes a request, and waits until the next one's bytes arrive (its start).
 * In between the kernel wakes a writer, completes its write, and wakes the device. All processes are on one CPU.
 *
 * device=pipe: a pipe with space for one request; reading it is the completion. device=pty: a terminal with stopped output, like a slow
 * printer; resuming output is the completion. Since its driver would accept many requests ahead, there is one writer, which writes again on
 * request: then its request is pending, and that is not timed.
 */
#define _GNU_SOURCE
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>

#include "device.h"

#define WRITERS 4
#define SIZE 1000 /* bytes of a request, as in the document */
#define SETTLE_US 300

static struct device device;
static int go[2] = {-1, -1}; /* pipe that triggers the writer to a terminal */
static int writers = WRITERS;
static pid_t writer[WRITERS];
static char request[SIZE];

static _Noreturn void run_writer(void)
{
	char byte;
	for (;;) {
		if (device.is_pty && read(go[0], &byte, 1) != 1)
			_exit(1);
		if (write(device.write_fd, request, SIZE) != SIZE)
			_exit(1);
	}
}

static void complete_request(struct context *c)
{
	char received[SIZE];
	for (ssize_t length, all = 0; all < SIZE; all += length) {
		length = read(device.read_fd, received, (size_t)(SIZE - all));
		if (length <= 0) {
			failed(c, "read");
			return;
		}
	}
}

static void queue_request(struct context *c)
{
	if (tcflow(device.write_fd, TCOOFF) != 0)
		failed(c, "tcflow");
	else if (write(go[1], "", 1) != 1)
		failed(c, "write");
	usleep(SETTLE_US);
}

static void setup(struct context *c)
{
	open_device(c, &device, O_DIRECT);
	if (device.is_pty) {
		writers = 1;
		if (pipe2(go, O_CLOEXEC) != 0)
			failed(c, "pipe2");
	} else if (fcntl(device.write_fd, F_SETPIPE_SZ, 1) < 0) {
		/* a packet pipe holds one packet per page; this sets the minimum of one page */
		failed(c, "F_SETPIPE_SZ");
	}
	for (int i = 0; i < writers; i++) {
		writer[i] = fork_peer(c);
		if (writer[i] < 0)
			failed(c, "fork");
		if (writer[i] == 0)
			run_writer();
	}
	if (device.is_pty)
		queue_request(c);
	else
		usleep(10000); /* until all writers block */
}

static void run(struct context *c, uint64_t n, uint64_t *check)
{
	struct pollfd read_fd = {.fd = device.read_fd, .events = POLLIN};
	uint64_t done = 0;
	for (uint64_t i = 0; i < n; i++) {
		uint64_t start = now_ns();
		if (!device.is_pty)
			complete_request(c);
		else if (tcflow(device.write_fd, TCOON) != 0)
			failed(c, "tcflow");
		int ready = poll(&read_fd, 1, 1000);
		uint64_t end = now_ns();
		if (ready != 1) {
			failed_because(c, "poll", "no request within 1 s");
			return;
		}
		record(c, start, end);
		done++;
		if (device.is_pty) {
			complete_request(c);
			queue_request(c);
		}
	}
	*check = done;
}

static uint64_t expect(struct context *c, uint64_t n)
{
	(void)c;
	return n;
}

static void teardown(struct context *c)
{
	for (int i = 0; i < writers; i++) {
		kill(writer[i], SIGKILL);
		if (waitpid(writer[i], NULL, 0) != writer[i])
			failed(c, "waitpid");
	}
}

const struct kernel kernel = {
	.name = "rt/turnaround-driver",
	.setup = setup,
	.run = run,
	.expect = expect,
	.teardown = teardown,
};
