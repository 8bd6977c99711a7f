/* vm/fault/...: one operation is one page fault that needs no device, by the first write to a page. how=zero: the page is not there, and
 * comes filled with zeros. how=copy: it is shared with a child since fork(), and is copied. how=huge: as zero, but a huge page.
 *
 * That a page is new shows in a byte that was set in the old one; that it was copied, in the child's, which must be as before.
 * A region gives back as many huge pages as it is to write, and takes those that were not touched for longest: otherwise few of them
 * would stay in the caches, where filling them takes a fraction of the time, and more would not.
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
#define HUGE_ONES 256 /* more than any core fills with zeros in the time of a region */

static enum { ZERO, COPY, HUGE } how;
static volatile char *memory;
static uint64_t page, pages;
static uint64_t first, last_n; /* the page at which a region begins, and how many it has */
static uint64_t others;	       /* bytes in huge pages beside those of a region */
static char written; /* a value that no page had before */
static pid_t child;
static int asks; /* closed when the child is to look at its pages */

static void setup(struct context *c)
{
	static const char *const names[] = {"zero", "copy", "huge"};
	const char *name = parameter(c, "how", "");
	int known = 0;
	for (int i = ZERO; i <= HUGE; i++)
		if (strcmp(name, names[i]) == 0) {
			how = i;
			known = 1;
		}
	if (!known)
		wrong_arguments(c, "how=%s is none of zero, copy and huge", name);
	page = how == HUGE ? huge_page(c) : (uint64_t)sysconf(_SC_PAGESIZE);
	pages = how == HUGE ? HUGE_ONES : PAGES;
	uint64_t needed = (how == COPY ? 2 : 1) * pages * page;
	if (needed > memory_available() / 2) {
		skip(c, "%lu pages of %lu KB are too much for the memory that is free", (unsigned long)pages,
		     (unsigned long)(page >> 10));
		return;
	}
	if (how == HUGE) {
		memory = huge_memory(c, pages * page, page);
		for (uint64_t i = 0; i < pages && memory != NULL; i++)
			memory[i * page] = 1;
		return;
	}
	memory = mmap(NULL, pages * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		failed(c, "mmap");
	else
		madvise((void *)(uintptr_t)memory, pages * page, MADV_NOHUGEPAGE); /* refused where there are none */
}

/* Sleeps while the parent writes; whether all of its pages are as they were is its status. */
static _Noreturn void keep_pages(int asked, uint64_t n)
{
	char byte;
	int same = read(asked, &byte, 1) == 0;
	for (uint64_t i = 0; i < n; i++)
		same &= memory[i * page] == written;
	_exit(!same);
}

static void share_pages(struct context *c, uint64_t n)
{
	int line[2];
	for (uint64_t i = 0; i < n; i++)
		memory[i * page] = written;
	if (pipe(line) != 0) {
		failed(c, "pipe");
		return;
	}
	child = fork_peer(c);
	if (child == 0) {
		close(line[1]);
		keep_pages(line[0], n);
	}
	if (child < 0)
		failed(c, "fork");
	close(line[0]);
	asks = line[1];
}

static void give_back(struct context *c, uint64_t from, uint64_t n)
{
	if (madvise((void *)(uintptr_t)(memory + from * page), n * page, MADV_DONTNEED) != 0)
		failed(c, "madvise");
}

static void prepare(struct context *c, uint64_t n)
{
	if (n > pages)
		wrong_arguments(c, "%lu pages at a time are more than the %lu that there are", (unsigned long)n,
			       (unsigned long)pages);
	written = (char)(written % 100 + 1);
	if (how == COPY) {
		share_pages(c, n);
		written = (char)(written % 100 + 1);
	} else if (how == ZERO) {
		give_back(c, 0, pages);
	} else {
		first = first + last_n + n <= pages ? first + last_n : 0;
		last_n = n;
		give_back(c, first, n);
		others = huge_bytes();
	}
}

static void run(struct context *c, uint64_t n, uint64_t *check)
{
	volatile char *at = memory + first * page;
	(void)c;
	(void)check;
	for (uint64_t i = 0; i < n; i++, at += page)
		*at = written;
}

static void finish(struct context *c, uint64_t n, uint64_t *check)
{
	int status = 0;
	for (uint64_t i = first; i < first + n; i++) {
		*check += memory[i * page] == written && (how == COPY || memory[i * page + 1] == 0);
		memory[i * page + 1] = 1;
	}
	if (how == HUGE && huge_bytes() < others + n * page)
		skip(c, "of %lu huge pages not all were given: memory is in pieces; as root: echo 1 > /proc/sys/vm/compact_memory",
		     (unsigned long)n);
	if (how != COPY)
		return;
	close(asks);
	if (waitpid(child, &status, 0) != child)
		failed(c, "waitpid");
	else if (status != 0)
		failed_because(c, "fork", "the child's pages are not what they were (status %#x)", (unsigned)status);
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
