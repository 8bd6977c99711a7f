/* vm/map/...: one operation maps bytes= of memory, writes to each of its pages, and unmaps it. Huge pages are disabled for the process.
 */
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "../memory/caches.h"
#include "../runtime/kernel.h"

static uint64_t bytes, page;

static void setup(struct context *c)
{
	bytes = parameter_u64(c, "bytes", 0);
	page = (uint64_t)sysconf(_SC_PAGESIZE);
	if (bytes == 0)
		wrong_arguments(c, "bytes= is missing");
	else if (bytes % page != 0)
		skip(c, "the page size is %lu bytes: %lu bytes are not whole pages", (unsigned long)page, (unsigned long)bytes);
	else if (bytes > memory_available() / 2)
		skip(c, "%lu MB are more than half of the free memory", (unsigned long)(bytes >> 20));
	prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0); /* fails without huge pages */
}

static void run(struct context *c, uint64_t n, uint64_t *check)
{
	for (uint64_t i = 0; i < n; i++) {
		volatile char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (memory == MAP_FAILED) {
			failed(c, "mmap");
			return;
		}
		for (uint64_t offset = 0; offset < bytes; offset += page) {
			memory[offset] = 1;
			/* the rest of a new page must be 0 */
			*check += (uint64_t)memory[offset] + (uint64_t)memory[offset + 1];
		}
		if (munmap((void *)(uintptr_t)memory, bytes) != 0) {
			failed(c, "munmap");
			return;
		}
	}
}

static uint64_t expect(struct context *c, uint64_t n)
{
	(void)c;
	return n * (bytes / page);
}

const struct kernel kernel = {.name = "vm/map", .setup = setup, .run = run, .expect = expect};
