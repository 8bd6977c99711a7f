/* file/fsync: latency of a durable small write (POSIX, fsync()).
 *
 * One operation is one pwrite of 512 bytes over a file of that size, and one fsync, which returns when the device reports completion.
 * Whether the device has a volatile write cache is not known.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "../runtime/kernel.h"

#define BYTES 512

static char content[BYTES];
static int file = -1;
/* Operations of earlier regions: no region writes what another has written. */
static uint64_t written;

static void setup(struct context *c)
{
	memset(content, 'x', sizeof content);
	file = open("small", O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (file < 0 || write(file, content, BYTES) != BYTES || fsync(file) != 0)
		failed(c, "fsync");
	note(c, "uncached", "fsync after each write");
}

static void run(struct context *c, uint64_t n, uint64_t *check)
{
	for (uint64_t i = 1; i <= n; i++) {
		uint64_t number = written + i;
		memcpy(content, &number, sizeof number);
		if (pwrite(file, content, BYTES, 0) != BYTES || fsync(file) != 0) {
			failed(c, "fsync");
			return;
		}
		++*check;
	}
}

/* The file must hold the number of the last operation. */
static void finish(struct context *c, uint64_t n, uint64_t *check)
{
	uint64_t last;
	if (pread(file, &last, sizeof last, 0) != sizeof last)
		failed(c, "pread");
	written += n;
	*check += last == written;
}

static uint64_t expect(struct context *c, uint64_t n)
{
	(void)c;
	return n + 1;
}

const struct kernel kernel = {.name = "file/sync", .setup = setup, .run = run, .finish = finish, .expect = expect};
