/* rt/turnaround-driver/hpib and pic: from the end of a request to the next pending one (hp-1987, tables 5.5 and 5.6).
 *
 * As in the document, a process forks itself several times, and all of them write requests to one device, which can do one at a
 * time: the others are pending, asleep in their write. This process is the device. One operation: it is done with a request
 * (completion), and waits until bytes of the next are there (its start). In between the kernel wakes a writer, lets it carry out
 * its write, and wakes the device. All are kept on one CPU.
 *
 * device=pipe: a pipe with room for one request; taking it out is the completion. device=pty: a terminal whose output is stopped
 * like that of a slow printer; letting it go on is the completion. Its driver would take many requests before the device had
 * a look at them, so that there is one writer, which writes again when it is told to: then it is pending, and that is not timed.
 */
#define _GNU_SOURCE
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>

#include "device.h"

#define WRITERS 4
#define SIZE 1000 /* bytes of a request, as in the document */
#define UNTIL_PENDING_US 300

static struct device device;
static int go[2] = {-1, -1}; /* a pipe by which the writer to a terminal is told */
static int writers = WRITERS;
static pid_t writer[WRITERS];
static char request[SIZE];

static _Noreturn void write_on(void)
{
	char told;
	for (;;) {
		if (device.is_pty && read(go[0], &told, 1) != 1)
			_exit(1);
		if (write(device.user, request, SIZE) != SIZE)
			_exit(1);
	}
}

/* Takes one whole request. */
static void take(struct context *c)
{
	char taken[SIZE];
	for (ssize_t length, all = 0; all < SIZE; all += length) {
		length = read(device.far, taken, (size_t)(SIZE - all));
		if (length <= 0) {
			failed(c, "read");
			return;
		}
	}
}

/* Lets the next request to a terminal become pending. */
static void pend(struct context *c)
{
	if (tcflow(device.user, TCOOFF) != 0)
		failed(c, "tcflow");
	else if (write(go[1], "", 1) != 1)
		failed(c, "write");
	usleep(UNTIL_PENDING_US);
}

static void setup(struct context *c)
{
	open_device(c, &device, O_DIRECT);
	if (device.is_pty) {
		writers = 1;
		if (pipe2(go, O_CLOEXEC) != 0)
			failed(c, "pipe2");
	} else if (fcntl(device.user, F_SETPIPE_SZ, 1) < 0) {
		/* a pipe of packets has one in each of its pages, and this one has the least there can be */
		failed(c, "F_SETPIPE_SZ");
	}
	for (int i = 0; i < writers; i++) {
		writer[i] = fork_peer(c);
		if (writer[i] < 0)
			failed(c, "fork");
		if (writer[i] == 0)
			write_on();
	}
	if (device.is_pty)
		pend(c);
	else
		usleep(10000); /* until all of them sleep in their writes */
}

static void run(struct context *c, uint64_t n, uint64_t *check)
{
	struct pollfd far = {.fd = device.far, .events = POLLIN};
	uint64_t done = 0;
	for (uint64_t i = 0; i < n; i++) {
		uint64_t start = now_ns();
		if (!device.is_pty)
			take(c);
		else if (tcflow(device.user, TCOON) != 0)
			failed(c, "tcflow");
		int there = poll(&far, 1, 1000);
		uint64_t end = now_ns();
		if (there != 1) {
			failed_because(c, "poll", "no request came within a second");
			return;
		}
		record(c, start, end);
		done++;
		if (device.is_pty) {
			take(c);
			pend(c);
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
