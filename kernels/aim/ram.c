/* aim/ram-read, aim/ram-write, aim/ram-copy: memory access by char, short and long (hp-1987, appendix A, tests 18 to 26; table 4.1, memory
 * loop access times).
 *
 * One operation is one block of 512 bytes read, written, or copied to another block, by loads and stores of the element's width (type=char,
 * short, long, int64: 8, 16, 32, 64 bits): volatile accesses, which compilers neither widen, merge nor omit. Blocks are sequential and
 * cyclic, and continue across samples. The memory has bytes=, a number or a working set of l2, l3 or memory; copies use twice as much.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "../memory/caches.h"
#include "cache.h"

#define BLOCK 512
#define ALIAS_OFFSET 2048 /* avoids 4K aliasing of loads and stores */

static char *from, *to;
static uint64_t blocks, next_block, number = 1;

/* Next block, cyclic. */
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
	int (*is_filled_with)(const void *block, uint64_t value);
	uint64_t (*sum)(uint64_t n);
} types[] = {
	{"char", {read_char, write_char, copy_char}, fill_char, is_filled_with_char, sum_char},
	{"short", {read_short, write_short, copy_short}, fill_short, is_filled_with_short, sum_short},
	{"long", {read_long, write_long, copy_long}, fill_long, is_filled_with_long, sum_long},
	{"int64", {read_int64, write_int64, copy_int64}, fill_int64, is_filled_with_int64, sum_int64},
};
#define TYPES (sizeof types / sizeof *types)

static const struct type *type = types;
static int op;

/* Size of one memory; for copies half of the working set. */
static uint64_t memory_size(struct context *c)
{
	const char *bytes = parameter(c, "bytes", "512");
	int level = strcmp(bytes, "l2") == 0 ? 2 : strcmp(bytes, "l3") == 0 ? 3 : strcmp(bytes, "memory") == 0 ? 4 : 0;
	if (level == 0)
		return parameter_u64(c, "bytes", BLOCK);
	struct caches caches = find_caches();
	uint64_t size = between_caches(&caches, level);
	note(c, "caches", "%" PRIu64 ", %" PRIu64 ", %" PRIu64 " bytes (%s)", caches.bytes[1], caches.bytes[2], caches.bytes[3],
		caches.source);
	if (size == 0)
		skip(c, "This processor reports no cache of level %d: --param bytes=N takes any size.", level);
	return op == COPY ? size / 2 : size;
}

static void setup(struct context *c)
{
	const char *op_name = parameter(c, "op", ""), *name = parameter(c, "type", "");
	while (ops[op] != NULL && strcmp(ops[op], op_name) != 0)
		op++;
	while (type < types + TYPES && strcmp(type->name, name) != 0)
		type++;
	if (ops[op] == NULL || type == types + TYPES)
		wrong_arguments(c, "op=%s type=%s: the first is read, write or copy, the second char, short, long or int64", op_name, name);
	uint64_t size = memory_size(c);
	blocks = size / BLOCK;
	if (blocks == 0)
		wrong_arguments(c, "bytes=%s is less than a block of %d, or not l2, l3 or memory", parameter(c, "bytes", ""), BLOCK);
	size = blocks * BLOCK;
	if (size > memory_available() / 4) {
		skip(c, "It needs twice %" PRIu64 " bytes, more than half of the free memory: --param bytes=N takes any size.", size);
		return;
	}
	from = mmap(NULL, 2 * size + ALIAS_OFFSET, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (from == MAP_FAILED) {
		failed(c, "mmap");
		return;
	}
	to = from + size + ALIAS_OFFSET;
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

/* Counts correct blocks, backwards from the last, and clears them, since narrow numbers repeat in the next cycle. */
static void finish(struct context *c, uint64_t n, uint64_t *check)
{
	uint64_t index = next_block;
	(void)c;
	for (uint64_t back = 1; op != READ && back <= n && back <= blocks; back++) {
		index = index == 0 ? blocks - 1 : index - 1;
		char *block = to + index * BLOCK;
		*check += op == WRITE ? type->is_filled_with(block, number - back) : memcmp(block, from + index * BLOCK, BLOCK) == 0;
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
