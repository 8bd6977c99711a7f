/* rt/turnaround-driver/disk: time from the completion of a disk request to the issue of the next (hp-1987, table 5.7).
 *
 * As in the document, several forked processes write to one disk, past the page cache, so that requests are always pending. The kernel's
 * trace has the time at which a request completes (block_rq_complete) and at which one is issued to the driver (block_rq_issue). One
 * operation is one write of size= bytes to a file; each completion on its device is paired with the next issue not yet paired. A disk of
 * today queues many requests internally, so the next issue is that of the process whose request completed, and its wakeup is in the time.
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
#define BLOCKS 64 /* blocks in a file, written round robin */
#define ALIGNED 4096
#define MIN_WRITES 16 /* among so many writes at least one is issued by the writing process itself */
#define MAX_PENDING 64 /* completions before the next issue */

enum { ISSUED, COMPLETED };
static struct event_spec event_spec[] = {
	[ISSUED] = {.event = "block/block_rq_issue", .number = {"sector", "dev"}},
	[COMPLETED] = {.event = "block/block_rq_complete", .number = {"sector", "dev"}},
};

static struct shared {
	_Atomic uint32_t region, idle; /* number of the region; writers that have finished it */
	_Atomic int64_t remaining;          /* writes not yet started */
	_Atomic uint64_t done;
	_Atomic int error;
} *shared;
static pid_t writer[WRITERS];
static int file[WRITERS];
static size_t size;
static char *block;
static uint64_t device; /* of the first request */

static _Noreturn void run_writer(int to)
{
	uint64_t place = 0;
	for (uint32_t region = 0;; region++) {
		while (atomic_load(&shared->region) == region)
			futex_wait(&shared->region, region);
		while (atomic_fetch_sub(&shared->remaining, 1) > 0) {
			if (pwrite(to, block, size, (off_t)(place++ % BLOCKS * size)) != (ssize_t)size)
				atomic_store(&shared->error, errno);
			else
				atomic_fetch_add(&shared->done, 1);
		}
		atomic_fetch_add(&shared->idle, 1);
		futex_wake_all(&shared->idle);
	}
}

/* One file per writer, with allocated and written blocks. */
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
	for (int place = 0; place < BLOCKS; place++)
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
	trace_open(c, event_spec, 2, -1);
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
			run_writer(file[i]);
	}
}

static void prepare(struct context *c, uint64_t n)
{
	atomic_store(&shared->remaining, (int64_t)n);
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

static int is_writer(int32_t pid)
{
	for (int i = 0; i < WRITERS; i++)
		if (writer[i] == pid)
			return 1;
	return 0;
}

/* All requests to the device count: kernel threads issue some of ours, and another process's request is an equally valid successor. */
static void finish(struct context *c, uint64_t n, uint64_t *check)
{
	const struct event *pending[MAX_PENDING];
	int pending_count = 0;
	(void)check;
	trace_end(c);
	for (size_t i = 0; i < trace.count; i++) {
		const struct event *e = &trace.events[i];
		if (e->kind == ISSUED && device == 0 && is_writer(e->pid))
			device = e->number[1];
		if (device == 0 || e->number[1] != device)
			continue;
		if (e->kind == COMPLETED && pending_count < MAX_PENDING)
			pending[pending_count++] = e;
		/* a trace event that interrupts the writing of another gets its time: the request was issued before this completion */
		if (e->kind != ISSUED || pending_count == 0 || e->ns == pending[0]->ns)
			continue;
		record(c, pending[0]->ns, e->ns);
		memmove(pending, pending + 1, (size_t)--pending_count * sizeof *pending);
	}
	if (device == 0 && n >= MIN_WRITES)
		skip(c, "none of %u writes reached a block device; choose a directory on a disk with --dir", (unsigned)n);
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
		kill(writer[i], SIGKILL);
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
