/* Background load of vm/fft-loaded: one process that computes and one that pages, on the benchmark's CPU. The second accesses a file of its
 * own at random, and drops its pages after every pass, so that they are read again from the device (or from memory on file systems in
 * memory). The documents do not define a loaded system; this one works everywhere.
 */
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#define LOAD_PAGES 4096
#define PAGE 4096

static pid_t load[2];

static void compute(void)
{
	for (uint64_t sum = 0;; sum++)
		OPAQUE(sum);
}

static void run_paging(int file)
{
	volatile char *memory = mmap(NULL, LOAD_PAGES * PAGE, PROT_READ, MAP_SHARED, file, 0);
	uint32_t state = 1;
	if (memory == MAP_FAILED)
		_exit(1);
	madvise((void *)(uintptr_t)memory, LOAD_PAGES * PAGE, MADV_RANDOM);
	for (;;) {
		for (int i = 0; i < LOAD_PAGES; i++) {
			state = state * 1664525u + 1013904223u;
			(void)memory[(state >> 20) % LOAD_PAGES * PAGE];
		}
		madvise((void *)(uintptr_t)memory, LOAD_PAGES * PAGE, MADV_DONTNEED);
		posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
	}
}

/* Unlinked after creation. */
static int load_file(struct context *c)
{
	char block[PAGE];
	int file = open("load", O_RDWR | O_CREAT | O_EXCL, 0600);
	if (file < 0) {
		failed(c, "open");
		return -1;
	}
	unlink("load");
	memset(block, 'l', sizeof block);
	for (int i = 0; i < LOAD_PAGES; i++)
		if (write(file, block, sizeof block) != (ssize_t)sizeof block) {
			failed(c, "write");
			return -1;
		}
	if (fsync(file) != 0) /* only clean pages can be dropped */
		failed(c, "fsync");
	return file;
}

static void start_load(struct context *c)
{
	int file = load_file(c);
	for (int i = 0; i < 2 && file >= 0; i++) {
		load[i] = fork_peer(c);
		if (load[i] < 0)
			failed(c, "fork");
		if (load[i] == 0 && i == 0)
			compute();
		if (load[i] == 0)
			run_paging(file);
	}
}

/* Fails if a process of the load has ended before, also by the OOM killer. */
static void stop_load(struct context *c)
{
	for (int i = 0; i < 2; i++) {
		int status = 0;
		if (load[i] <= 0)
			continue;
		if (waitpid(load[i], &status, WNOHANG) != 0) {
			failed_because(c, "load", "process %d of the load ended early, with status %#x", i + 1, (unsigned)status);
			continue;
		}
		kill(load[i], SIGKILL);
		if (waitpid(load[i], &status, 0) != load[i])
			failed(c, "waitpid");
	}
}
