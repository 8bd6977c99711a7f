/* rt/turnaround-user/...: a write to a device of infinite speed, and back in the program (hp-1987, tables 5.11 to 5.14).
 *
 * One operation is one write of size= bytes, timed from the line before it to the line after it. The device takes the bytes afterwards,
 * untimed, as this process itself: so it has always taken what came before. See device.h for which devices there are.
 */
#define _GNU_SOURCE
#include "device.h"

#define MOST 512

static struct device device;
static size_t size;
static unsigned char bytes[MOST];

static void setup(struct context *c)
{
	size = (size_t)parameter_u64(c, "size", 0);
	if (size == 0 || size > MOST)
		wrong_arguments(c, "size=%zu is not between 1 and %d", size, MOST);
	else
		open_device(c, &device, 0);
}

static void run(struct context *c, uint64_t n, uint64_t *check)
{
	uint64_t sum = 0;
	for (uint64_t i = 0; i < n; i++) {
		memset(bytes, (int)(i & 0xff), size);
		uint64_t start = now_ns();
		ssize_t wrote = write(device.user, bytes, size);
		uint64_t end = now_ns();
		if (wrote != (ssize_t)size) {
			failed(c, "write");
			return;
		}
		record(c, start, end);
		for (size_t taken = 0; taken < size;) {
			ssize_t took = read(device.far, bytes, size - taken);
			if (took <= 0) {
				failed(c, "read");
				return;
			}
			taken += (size_t)took;
			sum += bytes[took - 1] * (uint64_t)took;
		}
	}
	*check = sum;
}

/* Every byte of an operation is the low byte of its number. */
static uint64_t expect(struct context *c, uint64_t n)
{
	uint64_t rest = n % 256;
	(void)c;
	return size * (n / 256 * (255 * 128) + rest * (rest - (rest > 0)) / 2);
}

const struct kernel kernel = {
	.name = "rt/turnaround-user",
	.setup = setup,
	.run = run,
	.expect = expect,
};
