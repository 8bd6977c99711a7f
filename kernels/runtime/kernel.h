/* The interface between workloads and the runtime: a struct of hooks, and a few helpers.
 *
 * A workload only does the work: it neither times, prints nor parses arguments. The runtime (the other files of this folder) is responsible
 * for clock, calibration, placement, resource use and the protocol.
 */
#ifndef GRITSTONE_KERNEL_H
#define GRITSTONE_KERNEL_H

#include <stdint.h>
#include <sys/types.h>

struct context;

struct kernel {
	/* "family/name", the path of the file. */
	const char *name;

	/* Once, before everything else; may call skip() or failed(). Optional. */
	void (*setup)(struct context *);

	/* Untimed, before each timed region of n operations. Optional. */
	void (*prepare)(struct context *, uint64_t n);

	/* The timed region: n operations. Accumulates in *check a value that proves the work. */
	void (*run)(struct context *, uint64_t n, uint64_t *check);

	/* Untimed, after each timed region: verify, reap, remove. May change *check. Optional. */
	void (*finish)(struct context *, uint64_t n, uint64_t *check);

	/* The expected *check after n operations: a closed form, or computed independently. Optional. */
	uint64_t (*expect)(struct context *, uint64_t n);

	/* Once, after everything else. Optional. */
	void (*teardown)(struct context *);

	/* Maximum n per region; 0: no limit. */
	uint64_t max_n;

	/* Resource use is that of the process itself (0), of its reaped children, or of both. For both, only the sum of user and system
	 * time is reported. */
	enum { CHILDREN_ALONE = 1, CHILDREN_TOO } children;

	/* prepare and finish only access files, and finish, if any, computes *check by itself: when the reference workload is timed as a
	 * whole process, they run as separate processes, to exclude them. */
	int files;

	/* An operation is a sample: n is always 1, and calibration is one warm-up. */
	int single;
};

/* Defined by every workload. */
extern const struct kernel kernel;

/* Reports a failed call with errno; `call` is one word; only the first failure counts. run() should then return. */
void failed(struct context *, const char *call);

/* The same with a message in place of errno. */
void failed_because(struct context *, const char *call, const char *why, ...)
	__attribute__((format(printf, 3, 4)));

/* Reports an invalid argument and exits. From setup. */
_Noreturn void wrong_arguments(struct context *, const char *why, ...) __attribute__((format(printf, 2, 3)));

/* Skips the benchmark, unless there was a failure before: reason and remedy. From setup, or from finish if not known earlier. */
void skip(struct context *, const char *why, ...) __attribute__((format(printf, 2, 3)));

/* Discards the region as a sample. From finish. */
void leave_out(struct context *);

/* Adds a fact to the result. Not from run(). */
void note(struct context *, const char *key, const char *value, ...) __attribute__((format(printf, 3, 4)));

/* A parameter of the catalog entry, or a default. The path of each program that the entry `uses` is the parameter `family/name`; of each
 * that it `needs`, the parameter of that name. */
const char *parameter(const struct context *, const char *key, const char *otherwise);
uint64_t parameter_u64(struct context *, const char *key, uint64_t otherwise);

/* The command after `--`, NULL-terminated; possibly empty. */
char **command_line(const struct context *);

/* Nanoseconds of CLOCK_MONOTONIC_RAW. */
uint64_t now_ns(void);

/* Records the time of one operation in a histogram; the result is then the median of recorded operations. Returns whether it is the longest
 * so far. No system call, no allocation. Not from a second process: the histogram is not inherited across fork(). */
int record(struct context *, uint64_t start_ns, uint64_t end_ns);

/* Records a response time by number of users and kind of transaction, a constant word without blanks. It affects the result only if
 * recorded by record() too. */
void respond(struct context *, uint64_t users, const char *kind, uint64_t start_ns, uint64_t end_ns);

/* fork() for a second process of the workload: it dies with its parent, and is pinned to the benchmark's second CPU if there is one. */
pid_t fork_peer(struct context *);

/* Forces x into a register and hides its value from the compiler, which prevents constant folding. */
#define OPAQUE(x) __asm__ volatile("" : "+r"(x))

/* A function that callers are compiled without knowledge of, including its register use, as if in another file. clang does not use such
 * knowledge. */
#if defined(__GNUC__) && !defined(__clang__)
#define SEPARATE __attribute__((noinline, noipa))
#else
#define SEPARATE __attribute__((noinline))
#endif

/* Compiler barrier: memory may be read and modified here. */
#define CLOBBER() __asm__ volatile("" : : : "memory")

#endif
