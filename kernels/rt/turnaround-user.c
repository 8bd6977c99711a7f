/* rt/turnaround-user/...: an unbuffered write to a device of infinite speed, and back in the program (hp-1987, tables 5.11 to 5.14).
 *
 * One operation is one write of size= bytes and the sleep until the device has them, as a driver sleeps that does not buffer: from the line
 * before the write to the line after the completion. The device is a process on the same CPU (instrument.h) that waits for the
 * bytes, takes them and wakes the writer: two switches are in it. See device.h for which devices there are.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <sys/wait.h>

#include "device.h"
#include "instrument.h"

#define MOST 512

static struct device device;
static struct instrument *instrument;
static pid_t taker;
static size_t size;
static unsigned char bytes[MOST];

static void setup(struct context *c)
{
	size = (size_t)parameter_u64(c, "size", 0);
	if (size == 0 || size > MOST)
		wrong_arguments(c, "size=%zu is not between 1 and %d", size, MOST);
	open_device(c, &device, 0);
	instrument = make_instrument();
	if (instrument == MAP_FAILED) {
		failed(c, "mmap");
		return;
	}
	taker = fork_peer(c);
	if (taker < 0)
		failed(c, "fork");
	if (taker == 0) {
		take_requests(instrument, device.far, size);
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
		ssize_t wrote = write(device.user, bytes, size);
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
	kill(taker, SIGKILL);
	if (waitpid(taker, &status, 0) != taker)
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
