/* What a kernel sees of the runtime: one struct of hooks to fill in, and a few helpers.
 *
 * A kernel does work, and only work: it neither times, prints nor parses arguments. The runtime (the other files
 * of this folder) owns clock, calibration, placement, resource use and the protocol.
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

	/* The timed region: n operations. Adds up in *check what shows that they were done. */
	void (*run)(struct context *, uint64_t n, uint64_t *check);

	/* Untimed, after each timed region: verify, reap, remove. May change *check. Optional. */
	void (*finish)(struct context *, uint64_t n, uint64_t *check);

	/* What *check must be after n operations: a closed form, or computed by other means. Optional. */
	uint64_t (*expect)(struct context *, uint64_t n);

	/* Once, after everything else. Optional. */
	void (*teardown)(struct context *);

	/* Largest n that the kernel can do at a time; 0: no limit. */
	uint64_t max_n;

	/* Resource use is that of the process itself (0), of the children that it has waited for, or of both. Of both, user
	 * and system time are not told apart. */
	enum { CHILDREN_ALONE = 1, CHILDREN_TOO } children;

	/* prepare and finish work on files alone, and finish, if there is one, finds *check by itself: where the published
	 * work is timed as a whole process, they are processes of their own, since they are no part of that work. */
	int files;

	/* An operation is a figure of its own: n is always 1, and calibration is one warm-up. */
	int single;
};

/* Every kernel defines this one. */
extern const struct kernel kernel;

/* A call has failed: remembers errno and the call's name, one word; only the first counts. run() should return then. */
void failed(struct context *, const char *call);

/* The same with a sentence, where errno says nothing. */
void failed_because(struct context *, const char *call, const char *why, ...)
	__attribute__((format(printf, 3, 4)));

/* An argument is not what the program takes: says so and ends it, so that nothing is made of a wrong value. From setup. */
_Noreturn void wrong_arguments(struct context *, const char *why, ...) __attribute__((format(printf, 2, 3)));

/* Cannot run here, unless something has failed before: reason and what mends it. From setup, or from finish where it is not known before. */
void skip(struct context *, const char *why, ...) __attribute__((format(printf, 2, 3)));

/* What was just done counts for nothing: it makes no sample. From finish. */
void leave_out(struct context *);

/* Something found or chosen that belongs to the figure. Not from run(). */
void note(struct context *, const char *key, const char *value, ...) __attribute__((format(printf, 3, 4)));

/* A parameter of the benchmark's entry, or what stands for it when it is not given. For each program that the entry
 * `uses`, its path is the parameter `family/name`; for each that it `needs`, the parameter of that name. */
const char *parameter(const struct context *, const char *key, const char *otherwise);
uint64_t parameter_u64(struct context *, const char *key, uint64_t otherwise);

/* The command after `--`, NULL-terminated; empty when there is none. */
char **command_line(const struct context *);

/* Nanoseconds of CLOCK_MONOTONIC_RAW. */
uint64_t now_ns(void);

/* Hands one operation to the recorder, which keeps a histogram: where operations are recorded, the figure is their median.
 * Whether it is the longest so far. No system call, no allocation. Not from a second process: fork() does not copy the
 * recorder. */
int record(struct context *, uint64_t start_ns, uint64_t end_ns);

/* Hands the recorder the response to one user of so many, by the kind of transaction, a word without blanks that stays. It is of no figure
 * unless record() has it too. */
void respond(struct context *, uint64_t users, const char *kind, uint64_t start_ns, uint64_t end_ns);

/* fork() for a second process of the kernel: it dies with its parent, and is placed on the second CPU if the
 * row has one. Returns as fork() does; in the child -1 never comes back. */
pid_t fork_peer(struct context *);

/* The value of x is unknown to the compiler from here on, and must be in a register: nothing is folded away. */
#define OPAQUE(x) __asm__ volatile("" : "+r"(x))

/* A function of which the compiler knows nothing where it is called, not even which registers it leaves alone, as if it stood in a file of
 * its own. clang makes use of no such knowledge. */
#if defined(__GNUC__) && !defined(__clang__)
#define SEPARATE __attribute__((noinline, noipa))
#else
#define SEPARATE __attribute__((noinline))
#endif

/* Memory is read and written by unknown hands here: stores are kept, loads are done again. */
#define CLOBBER() __asm__ volatile("" : : : "memory")

#endif
