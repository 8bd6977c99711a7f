/* vm/protect/..., vm/shootdown/...: one operation write-protects bytes= of touched memory, or one page, permits writing again, and writes
 * to it.
 *
 * With cpus_used= 2 or more, threads on the other CPUs read the same pages continuously: their TLB entries become stale when the pages are
 * protected, and interrupts flush them (TLB shootdown).
 */
#define _GNU_SOURCE
#include <sys/mman.h>

#include "../memory/caches.h"
#include "../thread/team.h"

static volatile char *memory;
static uint64_t bytes, page;
static _Alignas(CACHE_LINE_GAP) _Atomic int stop;

static void read_pages(unsigned member)
{
	(void)member;
	while (!atomic_load_explicit(&stop, memory_order_relaxed))
		for (uint64_t offset = 0; offset < bytes; offset += page)
			(void)memory[offset + 1];
}

static void setup(struct context *c)
{
	unsigned used = (unsigned)parameter_u64(c, "cpus_used", 1), cpus = team_cpus(c);
	page = (uint64_t)sysconf(_SC_PAGESIZE);
	bytes = parameter_u64(c, "bytes", page);
	if (bytes == 0)
		wrong_arguments(c, "bytes= is 0");
	if (bytes % page != 0) {
		skip(c, "the page size is %lu bytes: %lu bytes are not whole pages", (unsigned long)page, (unsigned long)bytes);
		return;
	}
	if (used > cpus) {
		skip(c, "it takes %u CPUs, and this process may use %u", used, cpus);
		return;
	}
	if (bytes > memory_available() / 2) {
		skip(c, "%lu KB are more than half of the free memory", (unsigned long)(bytes >> 10));
		return;
	}
	memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED) {
		failed(c, "mmap");
		return;
	}
	madvise((void *)(uintptr_t)memory, bytes, MADV_NOHUGEPAGE); /* EINVAL without huge pages */
	for (uint64_t offset = 0; offset < bytes; offset += page)
		memory[offset] = 0;
	team_start(c, used, read_pages);
}

static void prepare(struct context *c, uint64_t n)
{
	(void)c;
	(void)n;
	*(volatile uint64_t *)memory = 0;
	atomic_store(&stop, 0);
	team_prepare();
}

static void run(struct context *c, uint64_t n, uint64_t *check)
{
	void *begin = (void *)(uintptr_t)memory;
	team_go();
	for (uint64_t i = 0; i < n; i++) {
		if (mprotect(begin, bytes, PROT_READ) != 0 || mprotect(begin, bytes, PROT_READ | PROT_WRITE) != 0) {
			failed(c, "mprotect");
			break;
		}
		++*(volatile uint64_t *)begin;
	}
	atomic_store(&stop, 1);
	team_join();
	*check = *(volatile uint64_t *)begin;
}

static uint64_t expect(struct context *c, uint64_t n)
{
	(void)c;
	return n;
}

const struct kernel kernel = {
	.name = "vm/protect",
	.setup = setup,
	.prepare = prepare,
	.run = run,
	.finish = team_finish,
	.expect = expect,
};
