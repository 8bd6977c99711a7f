/* Internal interfaces of the runtime. Workloads must not include this. */
#ifndef GRITSTONE_RUNTIME_H
#define GRITSTONE_RUNTIME_H

#include <stddef.h>

#include "kernel.h"

#define PROTOCOL_VERSION 1

/* A log-linear histogram: a bucket for each value below 128 ns, above that 64 per power of two. */
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
	int has_protocol; /* descriptor 3 belongs to the protocol */
	int cpus;
	int cpu[MAX_CPUS];

	/* first failure, or the reason not to run */
	const char *failed_call;
	int failed_errno;
	char failed_why[512];
	int skipped;
	int left_out; /* the last region */

	struct histogram *latency; /* NULL outside measured regions */
};

/* probe.c: minima of readings before or after a region; femtoseconds per addition. */
#define PROBE_CHUNKS 3
struct probe {
	uint64_t pace; /* cycle probe: dependent additions, a core cycle each */
	uint64_t wide; /* SMT probe: independent additions, slower if a sibling thread is busy */
};
void read_probe(struct probe *);
struct probe combine_probes(const struct probe *before, const struct probe *after);
/* The SMT probe as a share of the cycle probe: minimal without contention. */
double smt_share(const struct probe *);

/* clock.c */
uint64_t clock_resolution_ns(void);
uint64_t clock_cost_ps(void);
uint64_t tick_ns(void);

/* usage.c; the cost of reading is measured once, untimed, and subtracted from CPU time */
void calibrate_usage(void);
void usage_begin(struct usage *before, int children);
void usage_end(const struct usage *before, struct usage *difference, int children);

/* counters.c; open only around a separate region */
int counters_open(void); /* returns whether any is available */
void counters_begin(void);
void counters_end(void);
void counters_close(void);
void line_counters(uint64_t n);

/* arguments.c */
void parse_arguments(struct context *, int argc, char **argv);
void place(struct context *, int which);

/* copies.c; no-ops without meeting= */
void join_copies(struct context *);
void await_copies(struct context *);
void copy_done(void);
int copies_running(void);

/* lines.c: the protocol. Lines are buffered until flush_lines(). */
void line(const char *format, ...) __attribute__((format(printf, 1, 2)));
void line_text(const char *text); /* appends escaped text to the current line */
void end_line(void);
void flush_lines(void);
void line_sample(const char *word, const struct sample *, const struct probe *);
void line_usage(const struct usage *);

/* histogram.c. Returns whether the time is the longest so far. */
int add_to_histogram(struct histogram *, uint64_t ns);
/* Appends the histogram to the current line and ends it. */
void line_histogram(const struct histogram *);

/* responses.c */
void line_responses(void);

/* Pre-faulted memory that fork() does not copy, so that fork benchmarks copy only the workload's memory. */
void *private_memory(size_t bytes);

/* In any mode but measure: failures go to standard error, and there is no protocol. */
extern int once;

/* failure.c. Reports a failure or skip, if any, and exits. */
void stop_if_failed(struct context *);

#endif
