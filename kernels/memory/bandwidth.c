/* memory/bandwidth/...: memory bandwidth of array copy, scale, add, triad, read and write, on one CPU or all CPUs.
 *
 * One operation processes 8,192 elements (64 KiB) of each array: op=copy c = a, scale c = q a, add c = a + b, triad c = a + q b, read the
 * sum of a, write c = q. The arrays together are at least 4 times the last-level cache, or with every=1, one process per permitted CPU,
 * 4 times all last-level caches of these. Each region starts where the previous one ended, and wraps around: between two uses of a line everything else is used
 * once. The counted bytes are those that the program requests, 8 to 24 per element; caches with write-allocate move more.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "../runtime/cpus.h"
#include "../runtime/futex.h"
#include "../runtime/kernel.h"
#include "caches.h"
#include "populate.h"

#define BLOCK 8192 /* elements */
#define MIN_BYTES ((uint64_t)128 << 20) /* if the cache size is unknown */

/* Eight doubles, a common cache line: vectorized at every optimization level. */
typedef double group __attribute__((vector_size(64)));

enum operation { COPY, SCALE, ADD, TRIAD, READ, WRITE };
static const char *const operations[] = {"copy", "scale", "add", "triad", "read", "write"};
static const group q = {3, 3, 3, 3, 3, 3, 3, 3};

/* Work of one process, in its own memory, by first touch. */
struct slice {
	double *a, *b, *c; /* NULL if the operation does not use it */
	uint64_t first_block;	/* first block of the next region */
	uint64_t count; /* blocks of this region */
	uint64_t check;
};

/* Shared by all processes. `region` wakes the workers, untimed; `go` starts the work. */
struct team {
	_Atomic uint32_t region, go, filled, ready, finished, verified;
	_Atomic uint64_t n, sum;
	_Atomic int failed;
};

static enum operation operation;
static uint64_t blocks; /* of an array of one process */
static unsigned members = 1;
static struct slice own_slice;
static struct team *team;
static int member_cpu[NR_CPUS]; /* with every=1 */
static pid_t worker_pid[NR_CPUS];
static uint64_t begin[NR_CPUS], next[NR_CPUS]; /* position of each process, for expect() */

/* Index within half a block plus the block: an exact double, different for any two blocks. */
static double value(uint64_t block, uint64_t i)
{
	return (double)(i % (BLOCK / 2) + block);
}

static uint64_t block_sum(uint64_t block, uint64_t scale)
{
	uint64_t half = BLOCK / 2;
	return scale * (half * (half - 1) + BLOCK * block);
}

/* Closed form for a block of the result; b is 2 a. */
static uint64_t expected_sum(uint64_t block)
{
	static const uint64_t scale[] = {1, 3, 3, 7, 1};
	return operation == WRITE ? 3 * BLOCK : block_sum(block, scale[operation]);
}

/* The sum is exact. Two accumulators, to hide the latency of the additions. */
static uint64_t read_block(const group *a)
{
	const group *end = a + BLOCK / 8;
	group even = {0}, odd = {0};
	uint64_t sum = 0;
	for (; a < end; a += 2) {
		even += a[0];
		odd += a[1];
	}
	even += odd;
	for (int i = 0; i < 8; i++)
		sum += (uint64_t)(int64_t)even[i];
	return sum;
}

static void work(struct slice *slice)
{
	slice->check = 0;
	for (uint64_t k = 0, block = slice->first_block; k < slice->count; k++, block = block + 1 < blocks ? block + 1 : 0) {
		const group *a = (const group *)slice->a + block * (BLOCK / 8), *b = (const group *)slice->b + block * (BLOCK / 8);
		group *c = (group *)slice->c + block * (BLOCK / 8), *end = c + BLOCK / 8;
		/* the barrier prevents compilers from replacing the copy loop by memcpy */
		switch (operation) {
		case COPY:
			for (; c < end; c++, a++) {
				*c = *a;
				CLOBBER();
			}
			break;
		case SCALE:
			for (; c < end; c++, a++) {
				*c = q * *a;
				CLOBBER();
			}
			break;
		case ADD:
			for (; c < end; c++, a++, b++) {
				*c = *a + *b;
				CLOBBER();
			}
			break;
		case TRIAD:
			for (; c < end; c++, a++, b++) {
				*c = *a + q * *b;
				CLOBBER();
			}
			break;
		case READ:
			slice->check += read_block(a);
			CLOBBER();
			break;
		case WRITE:
			for (; c < end; c++) {
				*c = q;
				CLOBBER();
			}
			break;
		}
	}
}

/* Poisons one element of every block to write, so that an earlier result is detected. */
static void poison(struct slice *slice)
{
	for (uint64_t k = 0; operation != READ && k < slice->count; k++)
		slice->c[(slice->first_block + k) % blocks * BLOCK + k % BLOCK] = -1;
}

static void verify(struct slice *slice)
{
	/* a block written twice in a region counts twice; reads have their sum already */
	for (uint64_t k = 0; operation != READ && k < slice->count; k++) {
		const double *c = slice->c + (slice->first_block + k) % blocks * BLOCK;
		uint64_t sum = 0;
		for (uint64_t i = 0; i < BLOCK; i++)
			sum += (uint64_t)(int64_t)c[i];
		slice->check += sum;
	}
	slice->first_block = (slice->first_block + slice->count) % blocks;
}

static uint64_t member_blocks(uint64_t n, unsigned member)
{
	return n / members + (member < n % members);
}

/* One extra page: arrays at a distance of a power of two conflict in the caches (add and triad were 20 % slower). */
static double *map_array(uint64_t bytes)
{
	void *memory = mmap(NULL, bytes + 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		return NULL;
	populate(memory, bytes);
	return memory;
}

/* Returns 0 without memory. */
static int allocate_arrays(struct slice *slice)
{
	uint64_t bytes = blocks * BLOCK * sizeof(double);
	int two = operation == ADD || operation == TRIAD, reads = operation != WRITE, writes = operation != READ;
	if ((reads && (slice->a = map_array(bytes)) == NULL) || (two && (slice->b = map_array(bytes)) == NULL) || (writes && (slice->c = map_array(bytes)) == NULL))
		return 0;
	for (uint64_t block = 0; block < blocks; block++)
		for (uint64_t i = 0; i < BLOCK; i++) {
			uint64_t element = block * BLOCK + i;
			if (reads)
				slice->a[element] = value(block, i);
			if (two)
				slice->b[element] = 2 * value(block, i);
			if (writes)
				slice->c[element] = 0;
		}
	return 1;
}

static void run_worker(unsigned member)
{
	if (!allocate_arrays(&own_slice)) {
		atomic_store(&team->failed, 1);
		_exit(1);
	}
	atomic_fetch_add(&team->filled, 1);
	for (uint32_t region = 0;; region++) {
		while (atomic_load(&team->region) == region)
			futex_wait(&team->region, region);
		own_slice.count = member_blocks(atomic_load(&team->n), member);
		poison(&own_slice);
		atomic_fetch_add(&team->ready, 1);
		while (atomic_load_explicit(&team->go, memory_order_acquire) == region)
			;
		work(&own_slice);
		atomic_fetch_add_explicit(&team->finished, 1, memory_order_release);
		verify(&own_slice);
		atomic_fetch_add(&team->sum, own_slice.check);
		atomic_fetch_add(&team->verified, 1);
	}
}

static void pin(struct context *c, int cpu)
{
	if (pin_to_cpu(cpu) != 0)
		failed(c, "sched_setaffinity");
}

/* The other members; this process is the first. */
static void fork_workers(struct context *c)
{
	for (unsigned member = 1; member < members; member++) {
		pid_t pid = fork_peer(c);
		if (pid < 0) {
			failed(c, "fork");
			members = member;
			return;
		}
		worker_pid[member] = pid;
		if (pid == 0) {
			pin(c, member_cpu[member]);
			run_worker(member);
		}
	}
	pin(c, member_cpu[0]);
}

/* Bytes of the last-level caches of the team. */
static uint64_t last_caches(void)
{
	static uint64_t first[NR_CPUS];
	uint64_t bytes = 0;
	for (unsigned member = 0; member < members; member++) {
		unsigned earlier = 0;
		first[member] = first_of_last_cache(member_cpu[member]);
		while (first[earlier] != first[member])
			earlier++;
		bytes += earlier == member ? last_cache(member_cpu[member]) : 0;
	}
	return bytes;
}

/* Returns 0 after skip(). */
static int choose_size(struct context *c, int every)
{
	uint64_t cache = every ? last_caches() : last_cache(sched_getcpu()), bytes = 4 * cache > MIN_BYTES ? 4 * cache : MIN_BYTES;
	static const uint64_t number[] = {2, 2, 3, 3, 1, 1};
	uint64_t arrays = number[operation];
	if (bytes > memory_available() / 4 * 3) {
		skip(c, "%lu MB of arrays, 4 times the last-level cache, are more than three quarters of the free memory",
		     (unsigned long)(bytes >> 20));
		return 0;
	}
	uint64_t block_bytes = BLOCK * sizeof(double) * members * arrays;
	blocks = (bytes + block_bytes - 1) / block_bytes;
	bytes = blocks * members * BLOCK * sizeof(double);
	note(c, "last_cache_bytes", "%lu", (unsigned long)cache);
	note(c, "array_bytes", "%lu", (unsigned long)bytes);
	note(c, "processes", "%u", members);
	return 1;
}

static void setup(struct context *c)
{
	const char *name = parameter(c, "op", "");
	int every = (int)parameter_u64(c, "every", 0), found = 0;
	for (int i = COPY; i <= WRITE; i++)
		if (strcmp(operations[i], name) == 0) {
			operation = (enum operation)i;
			found = 1;
		}
	if (!found)
		wrong_arguments(c, "op=%s is not copy, scale, add, triad, read or write", name);
	if (every) {
		const int count = permitted_cpus(member_cpu);
		if (count <= 0) {
			failed(c, "sched_getaffinity");
			return;
		}
		members = (unsigned)count;
	}
	if (!choose_size(c, every))
		return;
	team = mmap(NULL, sizeof *team, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (team == MAP_FAILED) {
		failed(c, "mmap");
		return;
	}
	if (every)
		fork_workers(c);
	if (!allocate_arrays(&own_slice))
		failed(c, "mmap");
	while (atomic_load(&team->filled) < members - 1 && !atomic_load(&team->failed))
		usleep(1000);
	if (atomic_load(&team->failed))
		failed_because(c, "mmap", "one of %u processes got no memory for its arrays", members);
}

static void await_workers(_Atomic uint32_t *count)
{
	while (atomic_load(count) < members - 1)
		sched_yield();
}

/* Returns when all workers are ready. */
static void prepare(struct context *c, uint64_t n)
{
	(void)c;
	for (unsigned member = 0; member < members; member++) {
		begin[member] = next[member];
		next[member] = (next[member] + member_blocks(n, member)) % blocks;
	}
	atomic_store(&team->n, n);
	atomic_store(&team->sum, 0);
	atomic_store(&team->ready, 0);
	atomic_store(&team->finished, 0);
	atomic_store(&team->verified, 0);
	atomic_fetch_add(&team->region, 1);
	if (members > 1)
		futex_wake_all(&team->region);
	own_slice.count = member_blocks(n, 0);
	poison(&own_slice);
	await_workers(&team->ready);
}

static void run(struct context *c, uint64_t n, uint64_t *check)
{
	(void)c;
	(void)n;
	(void)check; /* computed untimed in finish() */
	atomic_fetch_add_explicit(&team->go, 1, memory_order_release);
	work(&own_slice);
	while (atomic_load_explicit(&team->finished, memory_order_acquire) < members - 1)
		;
}

static void finish(struct context *c, uint64_t n, uint64_t *check)
{
	(void)c;
	(void)n;
	verify(&own_slice);
	await_workers(&team->verified);
	*check = own_slice.check + atomic_load(&team->sum);
}

static uint64_t expect(struct context *c, uint64_t n)
{
	uint64_t sum = 0;
	(void)c;
	for (unsigned member = 0; member < members; member++)
		for (uint64_t k = 0; k < member_blocks(n, member); k++)
			sum += expected_sum((begin[member] + k) % blocks);
	return sum;
}

static void teardown(struct context *c)
{
	(void)c;
	for (unsigned member = 1; member < members; member++)
		kill(worker_pid[member], SIGKILL);
	for (unsigned member = 1; member < members; member++)
		waitpid(worker_pid[member], NULL, 0);
}

const struct kernel kernel = {
	.name = "memory/bandwidth",
	.setup = setup,
	.prepare = prepare,
	.run = run,
	.finish = finish,
	.expect = expect,
	.teardown = teardown,
};
