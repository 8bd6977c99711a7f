/* What the files of the runtime share. Kernels must not include this. */
#ifndef GRITSTONE_RUNTIME_H
#define GRITSTONE_RUNTIME_H

#include <stddef.h>

#include "kernel.h"

#define PROTOCOL_VERSION 1

/* A log-linear histogram: values below 128 ns have a bucket each, above that every power of two is cut into 64. */
#define HISTOGRAM_BUCKETS (64 * 59)

struct histogram {
	uint64_t count, min, max, sum;
	uint64_t bucket[HISTOGRAM_BUCKETS];
};

/* getrusage(2) and the CPU clock, as differences; ns and counts. */
struct usage {
	uint64_t user, system, cpu, vcsw, icsw, minflt, majflt, inblock, oublock, migrations;
};

struct sample {
	uint64_t n, wall;
	uint64_t check, expected;
	struct usage usage;
};

#define MAX_PARAMETERS 64
#define MAX_CPUS 2

struct context {
	/* arguments */
	const char *key[MAX_PARAMETERS];
	const char *value[MAX_PARAMETERS];
	int parameters;
	char **command;
	int speaks; /* whether descriptor 3 is the protocol's: without it, the number may be anything's */
	int cpus;
	int cpu[MAX_CPUS];

	/* first failure, or the reason not to run */
	const char *failed_call;
	int failed_errno;
	char failed_why[512];
	int skipped;
	int left_out; /* the last region */

	struct histogram *latency; /* NULL until something is recorded in a measured region */
};

/* probe.c: readings beside a region, the shortest of each; femtoseconds an addition. */
#define PROBE_CHUNKS 3
struct probe {
	uint64_t pace; /* additions that wait for each other: a core cycle each */
	uint64_t wide; /* additions that do not: longer where another thread of the core is busy */
};
void read_probe(struct probe *);
struct probe of_both_sides(const struct probe *before, const struct probe *after);
/* The SMT probe as a share of the cycle probe: least where nothing else runs on the core. */
double wide_share(const struct probe *);

/* clock.c */
uint64_t clock_resolution_ns(void);
uint64_t clock_cost_ps(void);
uint64_t tick_ns(void);

/* usage.c; what reading costs is learned once, untimed, and taken off the CPU clock */
void learn_reading_cost(void);
void usage_begin(struct usage *before, int children);
void usage_end(const struct usage *before, struct usage *difference, int children);

/* counters.c; open nowhere but around one region of their own */
int counters_open(void); /* whether there is any */
void counters_begin(void);
void counters_end(void);
void counters_close(void);
void line_counters(uint64_t n);

/* arguments.c */
void parse_arguments(struct context *, int argc, char **argv);
void place(struct context *, int which);

/* copies.c; without a meeting there is one copy, which waits for nobody */
void join_copies(struct context *);
void meet_copies(struct context *);
void copy_done(void);
int copies_work(void);

/* lines.c: the protocol. Lines are kept in memory and written by flush_lines. */
void line(const char *format, ...) __attribute__((format(printf, 1, 2)));
void line_text(const char *text); /* appends escaped text to the current line */
void end_line(void);
void flush_lines(void);
void line_sample(const char *word, const struct sample *, const struct probe *);
void line_usage(const struct usage *);

/* histogram.c. Adds a time to a histogram; whether it is the longest so far. */
int add_to(struct histogram *, uint64_t ns);
/* The rest of a line: the histogram. */
void line_histogram(const struct histogram *);

/* responses.c */
void line_responses(void);

/* Memory that is touched at once and that fork() does not copy: fork rows copy the kernel's memory, not ours. */
void *private_memory(size_t bytes);

/* Whether one mode other than measure was asked for: failures go to standard error, and there is no protocol. */
extern int once;

/* failure.c. Ends the process after `fail` or `skip` was said, when there is something to say. */
void stop_if_failed(struct context *);

#endif
