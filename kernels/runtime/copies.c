/* Copies at once: several processes of one kernel that begin to measure together, and that all work until the last of them
 * has all of its samples, so that no sample is taken beside fewer copies than it is said to be.
 *
 * Arguments: copies=, how many; meeting=, a file of zeros that all of them map. Whoever started them sets `over` in it when
 * one of them has ended: nobody waits for the dead.
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

/* Returns when all have come here. Who waits sleeps, since the others may need the CPU to get ready. */
void meet_copies(struct context *c)
{
	const long longest[2] = {0, 20000000}; /* s, ns: the kernel's own struct timespec; then looks whether it is over */
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
		futex(&meeting->ready, FUTEX_WAIT, ready, longest);
		ready = atomic_load(&meeting->ready);
	}
}

void copy_done(void)
{
	if (meeting != NULL)
		atomic_fetch_add(&meeting->done, 1);
}

int copies_work(void)
{
	return meeting != NULL && atomic_load(&meeting->done) < copies && !atomic_load(&meeting->over);
}
