/* aim/ram-read, aim/ram-write, aim/ram-copy: memory by char, short and long (hp-1987, appendix A, tests 18 to 26; table 4.1,
 * memory loop access times).
 *
 * One operation is one block of 512 bytes read, written, or copied to another block, each element by a load or a store
 * of its own width (type=char, short, long, int64: 8, 16, 32, 64 bits): volatile accesses, which no compiler widens, joins or
 * leaves out. Blocks follow each other through the memory, from its end back to its beginning, and go on from sample to
 * sample where they stopped. The memory has bytes=, a number or what fits l2, l3 or memory here, and to copy there is as much
 * again.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "cache.h"

#define BLOCK 512
#define APART 2048 /* so that a load and the store before it never agree in the last bits of their addresses */

static char *from, *to;
static uint64_t blocks, at, number = 1;

/* Goes on to the next block, from the last to the first. */
#define NEXT(i) ((i) + 1 == all ? 0 : (i) + 1)

#define T int8_t
#define U uint32_t
#define NAME(what) what##_char
#include "ram.h"
#define T int16_t
#define U uint32_t
#define NAME(what) what##_short
#include "ram.h"
#define T int32_t
#define U uint32_t
#define NAME(what) what##_long
#include "ram.h"
#define T int64_t
#define U uint64_t
#define NAME(what) what##_int64
#include "ram.h"

enum { READ, WRITE, COPY };
static const char *const ops[] = {"read", "write", "copy", NULL};

static const struct type {
	const char *name;
	uint64_t (*work[3])(uint64_t n);
	void (*fill)(void *block);
	int (*has)(const void *block, uint64_t value);
	uint64_t (*sum)(uint64_t n);
} types[] = {
	{"char", {read_char, write_char, copy_char}, fill_char, has_char, sum_char},
	{"short", {read_short, write_short, copy_short}, fill_short, has_short, sum_short},
	{"long", {read_long, write_long, copy_long}, fill_long, has_long, sum_long},
	{"int64", {read_int64, write_int64, copy_int64}, fill_int64, has_int64, sum_int64},
};
#define TYPES (sizeof types / sizeof *types)

static const struct type *type = types;
static int op;

/* The size of one memory: as said, or half of what fits where two of them are used. */
static uint64_t memory_size(struct context *c)
{
	const char *bytes = parameter(c, "bytes", "512");
	int level = strcmp(bytes, "l2") == 0 ? 2 : strcmp(bytes, "l3") == 0 ? 3 : strcmp(bytes, "memory") == 0 ? 4 : 0;
	if (level == 0)
		return parameter_u64(c, "bytes", BLOCK);
	struct caches caches = find_caches();
	uint64_t size = between_caches(&caches, level);
	note(c, "caches", "%" PRIu64 ", %" PRIu64 ", %" PRIu64 " bytes (%s)", caches.bytes[1], caches.bytes[2], caches.bytes[3],
		caches.said_by);
	if (size == 0)
		skip(c, "This processor has no cache of level %d, as far as the system says: --param bytes=N takes any size.", level);
	return op == COPY ? size / 2 : size;
}

static void setup(struct context *c)
{
	const char *wanted = parameter(c, "op", ""), *name = parameter(c, "type", "");
	while (ops[op] != NULL && strcmp(ops[op], wanted) != 0)
		op++;
	while (type < types + TYPES && strcmp(type->name, name) != 0)
		type++;
	if (ops[op] == NULL || type == types + TYPES)
		wrong_arguments(c, "op=%s type=%s: the first is read, write or copy, the second char, short, long or int64", wanted, name);
	uint64_t size = memory_size(c), there = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
	blocks = size / BLOCK;
	if (blocks == 0)
		wrong_arguments(c, "bytes=%s is less than a block of %d, or none of l2, l3 and memory", parameter(c, "bytes", ""), BLOCK);
	size = blocks * BLOCK;
	if (size > there / 8) {
		skip(c, "It needs two times %" PRIu64 " bytes, more than a quarter of the memory: --param bytes=N takes any size.", size);
		return;
	}
	from = mmap(NULL, 2 * size + APART, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (from == MAP_FAILED) {
		failed(c, "mmap");
		return;
	}
	to = from + size + APART;
	for (uint64_t b = 0; b < blocks; b++) {
		type->fill(from + b * BLOCK);
		if (op != READ)
			memset(to + b * BLOCK, 0, BLOCK);
	}
	note(c, "measured", "%s%" PRIu64 " bytes", op == COPY ? "two times " : "", size);
}

static void run(struct context *c, uint64_t n, uint64_t *check)
{
	(void)c;
	*check = type->work[op](n);
}

/* Counts the blocks that are as they were written, back from the last one, and wipes them, so that the next ones show: a narrow
 * number is the same again when the memory begins anew. */
static void finish(struct context *c, uint64_t n, uint64_t *check)
{
	uint64_t here = at;
	(void)c;
	for (uint64_t back = 1; op != READ && back <= n && back <= blocks; back++) {
		here = here == 0 ? blocks - 1 : here - 1;
		char *block = to + here * BLOCK;
		*check += op == WRITE ? type->has(block, number - back) : memcmp(block, from + here * BLOCK, BLOCK) == 0;
		memset(block, 0, BLOCK);
	}
}

static uint64_t expect(struct context *c, uint64_t n)
{
	(void)c;
	if (op == READ)
		return type->sum(n);
	return n < blocks ? n : blocks;
}

const struct kernel kernel = {.name = "aim/ram", .setup = setup, .run = run, .finish = finish, .expect = expect};
