/* vm/fault/...: one operation is one minor page fault, by the first write to a page. how=zero: an anonymous page, filled with zeros.
 * how=copy: a copy-on-write page, shared with a child since fork(2). how=huge: a transparent huge page, filled with zeros.
 *
 * A new page is recognized by a byte that was set in the old one, a copied page by the child's, which must be unchanged. A region drops as
 * many huge pages as it will write, the least recently used ones: a few pages would stay in the caches, where zeroing them takes a fraction
 * of the time.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../memory/caches.h"
#include "huge.h"

#define PAGES 16384
#define HUGE_PAGE_COUNT 256 /* more than any core can zero in a region */

static enum { ZERO, COPY, HUGE } kind;
static volatile char *memory;
static uint64_t page, pages;
static uint64_t first, previous_n; /* first page of the region, and number of pages in the previous one */
static uint64_t huge_bytes_before;	       /* with the region's pages dropped */
static char pattern; /* byte to write, different from the previous one */
static pid_t child;
static int trigger_fd; /* closing it makes the child compare its pages */

static void setup(struct context *c)
{
	static const char *const names[] = {"zero", "copy", "huge"};
	const char *name = parameter(c, "how", "");
	int found = 0;
	for (int i = ZERO; i <= HUGE; i++)
		if (strcmp(name, names[i]) == 0) {
			kind = i;
			found = 1;
		}
	if (!found)
		wrong_arguments(c, "how=%s is not zero, copy or huge", name);
	page = kind == HUGE ? huge_page_size(c) : (uint64_t)sysconf(_SC_PAGESIZE);
	pages = kind == HUGE ? HUGE_PAGE_COUNT : PAGES;
	uint64_t needed = (kind == COPY ? 2 : 1) * pages * page;
	if (needed > memory_available() / 2) {
		skip(c, "%lu pages of %lu KB do not fit into the free memory", (unsigned long)pages,
		     (unsigned long)(page >> 10));
		return;
	}
	if (kind == HUGE) {
		memory = huge_memory(c, pages * page, page);
		for (uint64_t i = 0; i < pages && memory != NULL; i++)
			memory[i * page] = 1;
		return;
	}
	memory = mmap(NULL, pages * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		failed(c, "mmap");
	else
		madvise((void *)(uintptr_t)memory, pages * page, MADV_NOHUGEPAGE); /* EINVAL without huge pages */
}

/* Blocks while the parent writes; the exit status tells whether all pages are unchanged. */
static _Noreturn void compare_pages(int trigger, uint64_t n)
{
	char byte;
	int same = read(trigger, &byte, 1) == 0;
	for (uint64_t i = 0; i < n; i++)
		same &= memory[i * page] == pattern;
	_exit(!same);
}

static void share_pages(struct context *c, uint64_t n)
{
	int fds[2];
	for (uint64_t i = 0; i < n; i++)
		memory[i * page] = pattern;
	if (pipe(fds) != 0) {
		failed(c, "pipe");
		return;
	}
	child = fork_peer(c);
	if (child == 0) {
		close(fds[1]);
		compare_pages(fds[0], n);
	}
	if (child < 0)
		failed(c, "fork");
	close(fds[0]);
	trigger_fd = fds[1];
}

static void drop_page_range(struct context *c, uint64_t from, uint64_t n)
{
	if (madvise((void *)(uintptr_t)(memory + from * page), n * page, MADV_DONTNEED) != 0)
		failed(c, "madvise");
}

static void prepare(struct context *c, uint64_t n)
{
	if (n > pages)
		wrong_arguments(c, "%lu pages at a time are more than the available %lu", (unsigned long)n,
			       (unsigned long)pages);
	pattern = (char)(pattern % 100 + 1);
	if (kind == COPY) {
		share_pages(c, n);
		pattern = (char)(pattern % 100 + 1);
	} else if (kind == ZERO) {
		drop_page_range(c, 0, pages);
	} else {
		first = first + previous_n + n <= pages ? first + previous_n : 0;
		previous_n = n;
		drop_page_range(c, first, n);
		huge_bytes_before = huge_bytes();
	}
}

static void run(struct context *c, uint64_t n, uint64_t *check)
{
	volatile char *address = memory + first * page;
	(void)c;
	(void)check;
	for (uint64_t i = 0; i < n; i++, address += page)
		*address = pattern;
}

static void finish(struct context *c, uint64_t n, uint64_t *check)
{
	int status = 0;
	for (uint64_t i = first; i < first + n; i++) {
		*check += memory[i * page] == pattern && (kind == COPY || memory[i * page + 1] == 0);
		memory[i * page + 1] = 1;
	}
	if (kind == HUGE && huge_bytes() < huge_bytes_before + n * page)
		skip(c, "not all of %lu huge pages were allocated: memory is fragmented; as root: echo 1 > /proc/sys/vm/compact_memory",
		     (unsigned long)n);
	if (kind != COPY)
		return;
	close(trigger_fd);
	if (waitpid(child, &status, 0) != child)
		failed(c, "waitpid");
	else if (status != 0)
		failed_because(c, "fork", "the child's pages have changed (status %#x)", (unsigned)status);
}

static uint64_t expect(struct context *c, uint64_t n)
{
	(void)c;
	return n;
}

const struct kernel kernel = {
	.name = "vm/fault",
	.setup = setup,
	.prepare = prepare,
	.run = run,
	.finish = finish,
	.expect = expect,
	.max_n = PAGES,
};
