/* memory/bandwidth/...: how fast whole arrays are copied, scaled, added, scaled and added, read and written, on one CPU or on all at once.
 *
 * One operation does 8,192 elements (64 KiB) of each array: op=copy c = a, scale c = q a, add c = a + b, triad c = a + q b, read
 * the sum of a, write c = q. Each
 * array is at least 4 times the last cache, or with every=1, which has one process on each CPU, 4 times all last caches
 * together. The work goes on where the last region ended, and begins again at the end of the arrays. What is
 * counted is what the program asks for, 8 to 24 bytes an element; caches that fetch what is to be written move more.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "../runtime/futex.h"
#include "../runtime/kernel.h"
#include "caches.h"

#define BLOCK 8192 /* elements */
#define LEAST ((uint64_t)64 << 20) /* bytes of an array, where the system does not say how large its caches are */
#define MOST_CPUS 1024

/* Eight doubles, a line of most caches: as wide as the machine has it, at every level of optimization. */
typedef double group __attribute__((vector_size(64)));

enum operation { COPY, SCALE, ADD, TRIAD, READ, WRITE };
static const char *const operations[] = {"copy", "scale", "add", "triad", "read", "write"};
static const group q = {3, 3, 3, 3, 3, 3, 3, 3};

/* What one process works on; each has its own memory, touched by itself. */
struct part {
	double *a, *b, *c; /* those that the operation has */
	uint64_t at;	/* block at which the next region begins */
	uint64_t count; /* blocks of this region */
	uint64_t check;
};

/* Shared by all processes. `turn` wakes those that sleep for a region, untimed; `go` starts it. */
struct team {
	_Atomic uint32_t turn, go, filled, ready, worked, added;
	_Atomic uint64_t n, sum;
	_Atomic int failed;
};

static enum operation operation;
static uint64_t blocks; /* of an array of one process */
static unsigned members = 1;
static struct part mine;
static struct team *team;
static pid_t others[MOST_CPUS];
static uint64_t begin[MOST_CPUS], next[MOST_CPUS]; /* where each process is: for the formula, which sees no process */

/* An element's value is its place within half a block, and the block: exact, and never the same for two blocks. */
static double value(uint64_t block, uint64_t i)
{
	return (double)(i % (BLOCK / 2) + block);
}

static uint64_t sum_of(uint64_t block, uint64_t scale)
{
	uint64_t half = BLOCK / 2;
	return scale * (half * (half - 1) + BLOCK * block);
}

/* Of all elements of a block of the result, by a formula: b is 2 a. */
static uint64_t right_sum(uint64_t block)
{
	static const uint64_t scale[] = {1, 3, 3, 7, 1};
	return operation == WRITE ? 3 * BLOCK : sum_of(block, scale[operation]);
}

/* Of the elements of a block, each exact, as is their sum. Two sums, so that no addition waits for the one before. */
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

static void work(struct part *part)
{
	part->check = 0;
	for (uint64_t k = 0, block = part->at; k < part->count; k++, block = block + 1 < blocks ? block + 1 : 0) {
		const group *a = (const group *)part->a + block * (BLOCK / 8), *b = (const group *)part->b + block * (BLOCK / 8);
		group *c = (group *)part->c + block * (BLOCK / 8), *end = c + BLOCK / 8;
		/* the barrier keeps each loop a loop: some compilers call memcpy for the first alone */
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
			part->check += read_block(a);
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

/* Spoils one element of every block that is to be written, so that what an earlier round left there is not right. */
static void spoil(struct part *part)
{
	for (uint64_t k = 0; operation != READ && k < part->count; k++)
		part->c[(part->at + k) % blocks * BLOCK + k % BLOCK] = -1;
}

static void add_up(struct part *part)
{
	/* what was written twice in a region is looked at once, and counts twice: it can only be right or wrong; what was read is added up */
	for (uint64_t k = 0; operation != READ && k < part->count; k++) {
		const double *c = part->c + (part->at + k) % blocks * BLOCK;
		uint64_t sum = 0;
		for (uint64_t i = 0; i < BLOCK; i++)
			sum += (uint64_t)(int64_t)c[i];
		part->check += sum;
	}
	part->at = (part->at + part->count) % blocks;
}

/* What falls to a member of n blocks: as even as can be. */
static uint64_t share(uint64_t n, unsigned member)
{
	return n / members + (member < n % members);
}

/* Each has a page more than it needs: arrays that lie exactly a power of two apart are in each other's way (add and triad were a fifth slower). */
static double *array(uint64_t bytes)
{
	void *memory = mmap(NULL, bytes + 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return memory == MAP_FAILED ? NULL : memory;
}

/* 0 when there is no memory. */
static int fill(struct part *part)
{
	uint64_t bytes = blocks * BLOCK * sizeof(double);
	int two = operation == ADD || operation == TRIAD, reads = operation != WRITE, writes = operation != READ;
	if ((reads && (part->a = array(bytes)) == NULL) || (two && (part->b = array(bytes)) == NULL) || (writes && (part->c = array(bytes)) == NULL))
		return 0;
	for (uint64_t block = 0; block < blocks; block++)
		for (uint64_t i = 0; i < BLOCK; i++) {
			uint64_t at = block * BLOCK + i;
			if (reads)
				part->a[at] = value(block, i);
			if (two)
				part->b[at] = 2 * value(block, i);
			if (writes)
				part->c[at] = 0;
		}
	return 1;
}

/* The life of every process but the first: woken untimed, then off at once when `go` says so. */
static void serve(unsigned member)
{
	if (!fill(&mine)) {
		atomic_store(&team->failed, 1);
		_exit(1);
	}
	atomic_fetch_add(&team->filled, 1);
	for (uint32_t turn = 0;; turn++) {
		while (atomic_load(&team->turn) == turn)
			futex_wait(&team->turn, turn);
		mine.count = share(atomic_load(&team->n), member);
		spoil(&mine);
		atomic_fetch_add(&team->ready, 1);
		while (atomic_load_explicit(&team->go, memory_order_acquire) == turn)
			;
		work(&mine);
		atomic_fetch_add_explicit(&team->worked, 1, memory_order_release);
		add_up(&mine);
		atomic_fetch_add(&team->sum, mine.check);
		atomic_fetch_add(&team->added, 1);
	}
}

static void pin(struct context *c, int cpu)
{
	cpu_set_t one;
	CPU_ZERO(&one);
	CPU_SET((size_t)cpu, &one);
	if (sched_setaffinity(0, sizeof one, &one) != 0)
		failed(c, "sched_setaffinity");
}

/* A process for each CPU that we may use, this one among them. */
static void assemble(struct context *c)
{
	cpu_set_t allowed;
	int first = -1;
	members = 0;
	if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) {
		failed(c, "sched_getaffinity");
		return;
	}
	members = (unsigned)CPU_COUNT(&allowed);
	for (int cpu = 0, member = 0; cpu < CPU_SETSIZE; cpu++) {
		if (!CPU_ISSET((size_t)cpu, &allowed))
			continue;
		if (member++ == 0) {
			first = cpu;
			continue;
		}
		pid_t pid = fork_peer(c);
		if (pid < 0) {
			failed(c, "fork");
			return;
		}
		others[member - 1] = pid;
		if (pid == 0) {
			pin(c, cpu);
			serve((unsigned)member - 1);
		}
	}
	pin(c, first);
}

static uint64_t caches(int every)
{
	uint64_t bytes = 0;
	if (!every)
		return last_cache(sched_getcpu());
	for (int cpu = 0; cpu < (int)sysconf(_SC_NPROCESSORS_CONF); cpu++)
		bytes += first_of_last_cache(cpu) ? last_cache(cpu) : 0;
	return bytes;
}

/* Whether there is memory for it. */
static int choose_size(struct context *c, int every)
{
	cpu_set_t allowed;
	uint64_t cache = caches(every), bytes = 4 * cache > LEAST ? 4 * cache : LEAST;
	static const uint64_t number[] = {2, 2, 3, 3, 1, 1};
	uint64_t arrays = number[operation];
	unsigned cpus = every && sched_getaffinity(0, sizeof allowed, &allowed) == 0 ? (unsigned)CPU_COUNT(&allowed) : 1;
	blocks = (bytes / cpus + BLOCK * sizeof(double) - 1) / (BLOCK * sizeof(double));
	bytes = blocks * cpus * BLOCK * sizeof(double);
	if (arrays * bytes > memory_available() / 4 * 3) {
		skip(c, "%lu arrays of %lu MB, 4 times the last cache, are more than three quarters of the memory that is free",
		     (unsigned long)arrays, (unsigned long)(bytes >> 20));
		return 0;
	}
	note(c, "last_cache_bytes", "%lu", (unsigned long)cache);
	note(c, "array_bytes", "%lu", (unsigned long)bytes);
	note(c, "processes", "%u", cpus);
	return 1;
}

static void setup(struct context *c)
{
	const char *name = parameter(c, "op", "");
	int every = (int)parameter_u64(c, "every", 0), known = 0;
	for (int i = COPY; i <= WRITE; i++)
		if (strcmp(operations[i], name) == 0) {
			operation = (enum operation)i;
			known = 1;
		}
	if (!known)
		wrong_arguments(c, "op=%s is none of copy, scale, add, triad, read and write", name);
	if (!choose_size(c, every))
		return;
	team = mmap(NULL, sizeof *team, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (team == MAP_FAILED) {
		failed(c, "mmap");
		return;
	}
	if (every)
		assemble(c);
	if (!fill(&mine))
		failed(c, "mmap");
	while (atomic_load(&team->filled) < members - 1 && !atomic_load(&team->failed))
		usleep(1000);
	if (atomic_load(&team->failed))
		failed_because(c, "mmap", "one of %u processes got no memory for its arrays", members);
}

static void await(_Atomic uint32_t *count)
{
	while (atomic_load(count) < members - 1)
		sched_yield();
}

/* Wakes the others, and returns when all wait for the start. */
static void prepare(struct context *c, uint64_t n)
{
	(void)c;
	for (unsigned member = 0; member < members; member++) {
		begin[member] = next[member];
		next[member] = (next[member] + share(n, member)) % blocks;
	}
	atomic_store(&team->n, n);
	atomic_store(&team->sum, 0);
	atomic_store(&team->ready, 0);
	atomic_store(&team->worked, 0);
	atomic_store(&team->added, 0);
	atomic_fetch_add(&team->turn, 1);
	if (members > 1)
		futex(&team->turn, FUTEX_WAKE, MOST_CPUS, NULL);
	mine.count = share(n, 0);
	spoil(&mine);
	await(&team->ready);
}

static void run(struct context *c, uint64_t n, uint64_t *check)
{
	(void)c;
	(void)n;
	(void)check; /* known when all results were looked at, untimed */
	atomic_fetch_add_explicit(&team->go, 1, memory_order_release);
	work(&mine);
	while (atomic_load_explicit(&team->worked, memory_order_acquire) < members - 1)
		;
}

static void finish(struct context *c, uint64_t n, uint64_t *check)
{
	(void)c;
	(void)n;
	add_up(&mine);
	await(&team->added);
	*check = mine.check + atomic_load(&team->sum);
}

static uint64_t expect(struct context *c, uint64_t n)
{
	uint64_t sum = 0;
	(void)c;
	for (unsigned member = 0; member < members; member++)
		for (uint64_t k = 0; k < share(n, member); k++)
			sum += right_sum((begin[member] + k) % blocks);
	return sum;
}

static void teardown(struct context *c)
{
	(void)c;
	for (unsigned member = 1; member < members; member++)
		kill(others[member], SIGKILL);
	for (unsigned member = 1; member < members; member++)
		waitpid(others[member], NULL, 0);
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
