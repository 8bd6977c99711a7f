/* rt/turnaround-user/...: round trip of an unbuffered write to a device of infinite speed (hp-1987, tables 5.11 to 5.14).
 *
 * One operation is one write of size= bytes and the sleep until its completion, as in an unbuffered driver: from just before the write to
 * just after the completion. The device is a process on the same CPU (instrument.h) that reads the bytes and wakes the writer: the time
 * includes two context switches. device.h describes the devices.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <sys/wait.h>

#include "device.h"
#include "instrument.h"

#define MAX_SIZE 512

static struct device device;
static struct instrument *instrument;
static pid_t device_pid;
static size_t size;
static unsigned char bytes[MAX_SIZE];

static void setup(struct context *c)
{
	size = (size_t)parameter_u64(c, "size", 0);
	if (size == 0 || size > MAX_SIZE)
		wrong_arguments(c, "size=%zu is not between 1 and %d", size, MAX_SIZE);
	open_device(c, &device, 0);
	instrument = create_instrument();
	if (instrument == MAP_FAILED) {
		failed(c, "mmap");
		return;
	}
	device_pid = fork_peer(c);
	if (device_pid < 0)
		failed(c, "fork");
	if (device_pid == 0) {
		serve_requests(instrument, device.read_fd, size);
		_exit(1);
	}
}

static void run(struct context *c, uint64_t n, uint64_t *check)
{
	uint64_t sum = instrument->sum;
	for (uint64_t i = 0; i < n; i++) {
		memset(bytes, (int)(i & 0xff), size);
		uint32_t before = atomic_load(&instrument->requests);
		uint64_t start = now_ns();
		ssize_t wrote = write(device.write_fd, bytes, size);
		if (wrote != (ssize_t)size) {
			failed(c, "write");
			return;
		}
		await_completion(instrument, before);
		record(c, start, now_ns());
	}
	*check = instrument->sum - sum;
}

/* Every byte of an operation is the low byte of its number. */
static uint64_t expect(struct context *c, uint64_t n)
{
	uint64_t rest = n % 256;
	(void)c;
	return size * (n / 256 * (255 * 128) + rest * (rest - (rest > 0)) / 2);
}

static void teardown(struct context *c)
{
	int status;
	kill(device_pid, SIGKILL);
	if (waitpid(device_pid, &status, 0) != device_pid)
		failed(c, "waitpid");
	else if (!WIFSIGNALED(status))
		failed_because(c, "read", "the device ended with status %#x", (unsigned)status);
}

const struct kernel kernel = {
	.name = "rt/turnaround-user",
	.setup = setup,
	.run = run,
	.expect = expect,
	.teardown = teardown,
};
