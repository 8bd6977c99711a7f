/* Simultaneous copies: several processes of one workload start measuring together, and all keep working until the last has its samples, so
 * that every sample is taken with all copies running.
 *
 * Arguments: copies=, their number; meeting=, a zero-filled file that all map. The harness sets `over` in it when a copy has exited, so
 * that no copy waits for it.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <unistd.h>

#include "futex.h"
#include "runtime.h"

static struct meeting {
	_Atomic uint32_t ready, done, over;
} *meeting;
static uint32_t copies;

void join_copies(struct context *c)
{
	const char *path = parameter(c, "meeting", NULL);
	if (path == NULL)
		return;
	copies = (uint32_t)parameter_u64(c, "copies", 1);
	int file = open(path, O_RDWR | O_CLOEXEC);
	if (file < 0) {
		failed(c, "open");
		return;
	}
	void *memory = mmap(NULL, sizeof *meeting, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	close(file);
	if (memory == MAP_FAILED) {
		failed(c, "mmap");
		return;
	}
	madvise(memory, sizeof *meeting, MADV_DONTFORK);
	meeting = memory;
}

/* Barrier. Waiters sleep, since the others may need the CPU to get ready. */
void await_copies(struct context *c)
{
	const long timeout[2] = {0, 20000000}; /* s, ns: the kernel's struct timespec; poll interval for `over` */
	if (meeting == NULL)
		return;
	uint32_t ready = atomic_fetch_add(&meeting->ready, 1) + 1;
	if (ready == copies)
		futex_wake_all(&meeting->ready);
	while (ready < copies) {
		if (atomic_load(&meeting->over)) {
			failed_because(c, "copies", "another copy ended before all were ready");
			return;
		}
		futex(&meeting->ready, FUTEX_WAIT, ready, timeout);
		ready = atomic_load(&meeting->ready);
	}
}

void copy_done(void)
{
	if (meeting != NULL)
		atomic_fetch_add(&meeting->done, 1);
}

int copies_running(void)
{
	return meeting != NULL && atomic_load(&meeting->done) < copies && !atomic_load(&meeting->over);
}
