/* rt/turnaround-driver/disk: from the end of a request to the start of the next, on a disk (hp-1987, table 5.7).
 *
 * As in the document, a process forks itself several times, and all of them write to one disk, past the page cache, so that there are
 * always requests that are not done. The kernel's trace has the time at which a request is done (block_rq_complete: the driver
 * has been told) and that at which one is handed to the driver (block_rq_issue). One operation is one write of size= bytes
 * to a file; each completion on its device is timed to the next issue that no earlier completion has. A disk of today takes
 * many requests at a time, and those that are pending wait in it: so the next one is that of the process whose request was done,
 * and waking it is in the time.
 */
#define _GNU_SOURCE
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <signal.h>

#include "../runtime/futex.h"
#include "trace.h"

#define NAME "turnaround-"
#define WRITERS 4
#define PLACES 64 /* writes until the file is full, and the first place comes again */
#define ALIGNED 4096
#define ENOUGH 16 /* writes of which one at least is issued by the process that wrote */
#define MOST_WAITING 64 /* requests that are done before the next is issued */

enum { ISSUED, COMPLETED };
static struct wanted wanted[] = {
	[ISSUED] = {.event = "block/block_rq_issue", .number = {"sector", "dev"}},
	[COMPLETED] = {.event = "block/block_rq_complete", .number = {"sector", "dev"}},
};

static struct shared {
	_Atomic uint32_t region, idle; /* regions begun; writers that have no more to do in it */
	_Atomic int64_t left;          /* writes of the region that nobody has taken */
	_Atomic uint64_t done;
	_Atomic int error;
} *shared;
static pid_t writer[WRITERS];
static int file[WRITERS];
static size_t size;
static char *block;
static uint64_t device; /* that of our first request */

static _Noreturn void write_on(int to)
{
	uint64_t place = 0;
	for (uint32_t region = 0;; region++) {
		while (atomic_load(&shared->region) == region)
			futex_wait(&shared->region, region);
		while (atomic_fetch_sub(&shared->left, 1) > 0) {
			if (pwrite(to, block, size, (off_t)(place++ % PLACES * size)) != (ssize_t)size)
				atomic_store(&shared->error, errno);
			else
				atomic_fetch_add(&shared->done, 1);
		}
		atomic_fetch_add(&shared->idle, 1);
		futex_wake_all(&shared->idle);
	}
}

/* A file of its own for each writer, its blocks allocated and written once. */
static void make_file(struct context *c, int i)
{
	char name[32];
	snprintf(name, sizeof name, NAME "%d", i);
	file[i] = open(name, O_RDWR | O_CREAT | O_TRUNC | O_DIRECT | O_CLOEXEC, 0600);
	if (file[i] < 0 && errno == EINVAL)
		skip(c, "the file system here has no O_DIRECT; choose a directory on a disk with --dir");
	if (file[i] < 0) {
		failed(c, "open");
		return;
	}
	for (int place = 0; place < PLACES; place++)
		if (pwrite(file[i], block, size, (off_t)((size_t)place * size)) != (ssize_t)size)
			failed(c, "pwrite");
	if (fsync(file[i]) != 0)
		failed(c, "fsync");
}

static void setup(struct context *c)
{
	size = (size_t)parameter_u64(c, "size", 0);
	if (size == 0 || size > 1 << 20 || size % 512 != 0)
		wrong_arguments(c, "size=%zu is not a multiple of 512, up to 1 MB", size);
	trace_open(c, wanted, 2, -1);
	block = aligned_alloc(ALIGNED, (size + ALIGNED - 1) / ALIGNED * ALIGNED);
	shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (block == NULL || shared == MAP_FAILED) {
		failed(c, "mmap");
		return;
	}
	memset(block, 1, size);
	note(c, "uncached", "O_DIRECT");
	for (int i = 0; i < WRITERS; i++) {
		make_file(c, i);
		writer[i] = fork_peer(c);
		if (writer[i] < 0)
			failed(c, "fork");
		if (writer[i] == 0)
			write_on(file[i]);
	}
}

static void prepare(struct context *c, uint64_t n)
{
	atomic_store(&shared->left, (int64_t)n);
	atomic_store(&shared->idle, 0);
	atomic_store(&shared->done, 0);
	trace_begin(c);
}

static void run(struct context *c, uint64_t n, uint64_t *check)
{
	(void)n;
	atomic_fetch_add(&shared->region, 1);
	futex_wake_all(&shared->region);
	for (uint32_t idle; (idle = atomic_load(&shared->idle)) < WRITERS;)
		futex_wait(&shared->idle, idle);
	if (atomic_load(&shared->error) != 0)
		failed_because(c, "pwrite", "%s", strerror(atomic_load(&shared->error)));
	*check = atomic_load(&shared->done);
}

static int is_ours(int32_t pid)
{
	for (int i = 0; i < WRITERS; i++)
		if (writer[i] == pid)
			return 1;
	return 0;
}

/* All requests to the device of the first of ours count: some of ours are issued by a thread of the kernel, and a request of somebody
 * else is as good a next one. */
static void finish(struct context *c, uint64_t n, uint64_t *check)
{
	const struct event *waiting[MOST_WAITING];
	int waits = 0;
	(void)check;
	trace_end(c);
	for (size_t i = 0; i < trace.count; i++) {
		const struct event *e = &trace.events[i];
		if (e->kind == ISSUED && device == 0 && is_ours(e->pid))
			device = e->number[1];
		if (device == 0 || e->number[1] != device)
			continue;
		if (e->kind == COMPLETED && waits < MOST_WAITING)
			waiting[waits++] = e;
		/* an event that interrupts the writing of another has the time of that: the request was issued before this completion */
		if (e->kind != ISSUED || waits == 0 || e->ns == waiting[0]->ns)
			continue;
		record(c, waiting[0]->ns, e->ns);
		memmove(waiting, waiting + 1, (size_t)--waits * sizeof *waiting);
	}
	if (device == 0 && n >= ENOUGH)
		failed_because(c, "trace", "of %u writes none was seen to reach a block device; choose a directory on a disk with --dir",
			       (unsigned)n);
}

static uint64_t expect(struct context *c, uint64_t n)
{
	(void)c;
	return n;
}

static void teardown(struct context *c)
{
	char name[32];
	trace_close(c);
	for (int i = 0; i < WRITERS; i++) {
		kill(writer[i], SIGKILL); /* it waits for a region that does not come */
		snprintf(name, sizeof name, NAME "%d", i);
		if (waitpid(writer[i], NULL, 0) != writer[i])
			failed(c, "waitpid");
		else if (unlink(name) != 0)
			failed(c, "unlink");
	}
}

const struct kernel kernel = {
	.name = "rt/turnaround-disk",
	.setup = setup,
	.prepare = prepare,
	.run = run,
	.finish = finish,
	.expect = expect,
	.teardown = teardown,
};
