/* One launch: calibration, proof that time grows with n, samples, the reference workload in batches.
 *
 * Arguments, all key=value: mode=measure (default), once, prepare, finish, count or step; samples=, target_ns=, sample_ns= (see below),
 * warm=0 (no warm-up if an operation is a sample), batch= (operations of the reference workload) and batch_ns=; n= (operations with
 * mode=once, count or step; with mode=measure the calibrated n of an earlier launch) and growth=0 (no proof that time grows with n); cpus=;
 * copies= and meeting= (see copies.c); the workload's parameters.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "runtime.h"

#define MAX_SAMPLES 64
#define MIN_SAMPLES 5
#define MAX_DEFAULT_SAMPLES 20
/* Total time of a launch's samples, ns, within the limits of their number. */
#define SAMPLES_NS 40000000
/* The SMT probe takes 50 % longer with contention, and varies by 0.1 % without. */
#define SMT_TOLERANCE 1.05
#define MAX_BATCHES 4096
/* Minimum time of a sample, ns; at most about twice that. */
#define TARGET_NS 1500000
/* A probe takes about 0.1 ms: shorter samples share one, ns. */
#define PROBE_INTERVAL (TARGET_NS / 2)
#define COUNTED_NS 50000000
#define MAX_N ((uint64_t)1 << 40)

/* Invalid argument of getrusage(2): marks begin and end of the work for a tracer. */
#define MARK 19840801

static struct context context;
static int counted, stepped, counting;
int once;

/* One timed region, with untimed prepare and finish. */
static void region(struct context *c, uint64_t n, struct sample *s)
{
	struct usage before;
	uint64_t check = 0;
	c->left_out = 0;
	if (kernel.prepare != NULL)
		kernel.prepare(c, n);
	stop_if_failed(c);
	if (counting)
		counters_begin();
	usage_begin(&before, kernel.children);
	uint64_t start = now_ns();
	kernel.run(c, n, &check);
	uint64_t end = now_ns();
	usage_end(&before, &s->usage, kernel.children);
	if (counting)
		counters_end();
	stop_if_failed(c);
	if (kernel.finish != NULL)
		kernel.finish(c, n, &check);
	stop_if_failed(c);
	s->n = n;
	s->wall = end - start;
	s->check = check;
	s->expected = kernel.expect != NULL ? kernel.expect(c, n) : 0;
}

static void line_check(const struct sample *s)
{
	if (kernel.expect == NULL)
		return;
	line("check n=%" PRIu64 " got=%" PRIu64 " expected=%" PRIu64, s->n, s->check, s->expected);
	end_line();
}

static uint64_t run_warm_up(struct context *c, uint64_t n)
{
	struct sample s;
	region(c, n, &s);
	line("warm n=%" PRIu64 " wall=%" PRIu64, s.n, s.wall);
	end_line();
	if (s.check != s.expected)
		line_check(&s);
	return s.wall;
}

/* Returns the n of an earlier launch if it still fits, else 0: calibration yields one to two target_ns, and a factor of two beyond is too far. */
static uint64_t reuse_n(struct context *c, uint64_t max_n, uint64_t target_ns, uint64_t *wall)
{
	uint64_t n = parameter_u64(c, "n", 0);
	if (n == 0 || n > max_n)
		return 0;
	*wall = run_warm_up(c, n);
	int long_enough = 2 * *wall >= target_ns || n == kernel.max_n;
	return long_enough && (*wall < 4 * target_ns || n == 1) ? n : 0;
}

/* Doubles n until n operations take target_ns in two successive regions, so that a single preemption does not pass for work. */
static uint64_t search_n(struct context *c, uint64_t max_n, uint64_t target_ns, uint64_t *elapsed)
{
	uint64_t n = 1, wall;
	for (;;) {
		wall = run_warm_up(c, n);
		if (wall >= target_ns && run_warm_up(c, n) >= target_ns)
			break;
		if (n >= max_n)
			break;
		n = 2 * n <= max_n ? 2 * n : max_n;
	}
	if (wall < target_ns && kernel.max_n == 0) {
		failed_because(c, "calibrate",
			"%" PRIu64 " operations took %" PRIu64 " ns: time does not grow with n, so no work is done", n,
			wall);
		stop_if_failed(c);
	}
	*elapsed = wall;
	return n;
}

/* For single operations the warm-up runs with open counters, since they are too long for a separate region. */
static void warm_and_count(struct context *c)
{
	counting = parameter_u64(c, "copies", 1) == 1 && counters_open();
	run_warm_up(c, 1);
	if (counting) {
		line_counters(1);
		counters_close();
		counting = 0;
	}
}

/* Determines n; then runs three regions each with n and n/2 operations, to prove that time grows with n. */
static uint64_t calibrate(struct context *c, uint64_t target_ns)
{
	uint64_t max_n = kernel.max_n != 0 ? kernel.max_n : MAX_N, wall;
	if (kernel.single) {
		if (parameter_u64(c, "warm", 1) != 0)
			warm_and_count(c);
		return 1;
	}
	uint64_t n = reuse_n(c, max_n, target_ns, &wall);
	if (n == 0)
		n = search_n(c, max_n, target_ns, &wall);
	if (parameter_u64(c, "growth", 1) == 0)
		return n;
	uint64_t high = n > 1 || max_n < 2 ? n : 2;
	for (int i = wall > 50000000 ? 1 : 0; i < 3; i++) {
		run_warm_up(c, high / 2 > 0 ? high / 2 : 1);
		run_warm_up(c, high);
	}
	return n;
}

/* A separate region with open counters, if available; not for regions above COUNTED_NS, or those counted in the warm-up. */
static void count_region(struct context *c, uint64_t n)
{
	struct sample s;
	counting = counters_open();
	if (!counting)
		return;
	region(c, n, &s);
	counting = 0;
	line_counters(n);
	counters_close();
	if (s.check != s.expected)
		line_check(&s);
}

static uint64_t default_samples(uint64_t wall)
{
	uint64_t some = wall > 0 ? SAMPLES_NS / wall : MAX_DEFAULT_SAMPLES;
	return some < MIN_SAMPLES ? MIN_SAMPLES : some > MAX_DEFAULT_SAMPLES ? MAX_DEFAULT_SAMPLES : some;
}

/* Takes samples, with probes before and after each (short ones share them): samples=, else until the default number is free of contention, at
 * most three times as many, and within sample_ns. Contention is relative to the launch's minimum: if it lasts for the whole launch, the
 * harness detects it by other launches, and repeats this one. Returns the time of the last sample. */
static uint64_t measure_samples(struct context *c, uint64_t n)
{
	uint64_t budget = parameter_u64(c, "sample_ns", 400000000), copies = parameter_u64(c, "copies", 1);
	uint64_t exact = parameter_u64(c, "samples", UINT64_MAX), default_count = 1, undisturbed = 0, taken = 0;
	double shares[MAX_SAMPLES], least = 1;
	struct sample s = {0};
	struct probe before, after;
	uint64_t start = now_ns();
	if (exact == 0)
		return 0;
	read_probe(&before);
	uint64_t probed = now_ns();
	uint64_t max_samples = exact != UINT64_MAX ? exact : MAX_SAMPLES;
	for (uint64_t i = 0; i < max_samples && (i == 0 || now_ns() - start < budget); i++) {
		region(c, n, &s);
		if (c->left_out)
			continue;
		after = before;
		if (now_ns() - probed >= PROBE_INTERVAL) {
			read_probe(&after);
			probed = now_ns();
		}
		struct probe both = combine_probes(&before, &after);
		line_sample("sample", &s, &both);
		line_check(&s);
		before = after;
		if (exact != UINT64_MAX)
			continue;
		if (taken == 0)
			default_count = default_samples(s.wall);
		double share = smt_share(&both);
		shares[taken++] = share;
		least = share < least ? share : least;
		undisturbed = 0;
		for (uint64_t j = 0; j < taken; j++)
			undisturbed += copies > 1 || shares[j] <= least * SMT_TOLERANCE;
		if (undisturbed >= default_count || taken >= 3 * default_count)
			break;
	}
	return s.wall;
}

static void add_usage(struct usage *sum, const struct usage *u)
{
	sum->user += u->user;
	sum->system += u->system;
	sum->cpu += u->cpu;
	sum->vcsw += u->vcsw;
	sum->icsw += u->icsw;
	sum->minflt += u->minflt;
	sum->majflt += u->majflt;
	sum->inblock += u->inblock;
	sum->oublock += u->oublock;
	sum->migrations += u->migrations;
}

/* Repeats the reference workload for batch_ns, at least once. */
static void measure_batches(struct context *c, uint64_t n, uint64_t *walls)
{
	struct probe before, after;
	uint64_t budget = parameter_u64(c, "batch_ns", 50000000);
	struct sample s, wrong = {0};
	struct usage sum = {0};
	uint64_t count = 0, start = now_ns();
	read_probe(&before);
	do {
		region(c, n, &s);
		walls[count++] = s.wall;
		add_usage(&sum, &s.usage);
		if (s.check != s.expected)
			wrong = s;
	} while (count < MAX_BATCHES && now_ns() - start < budget);
	read_probe(&after);
	struct probe probe = combine_probes(&before, &after);
	line("batch n=%" PRIu64 " pace=%" PRIu64 " wide=%" PRIu64, n, probe.pace, probe.wide);
	line_usage(&sum);
	line(" walls=");
	for (uint64_t i = 0; i < count; i++)
		line("%s%" PRIu64, i == 0 ? "" : ",", walls[i]);
	end_line();
	line_check(wrong.n != 0 ? &wrong : &s);
}

/* Keeps up the load until all copies have their samples. */
static void work_until_all_done(struct context *c, uint64_t n)
{
	struct sample s, wrong = {0};
	copy_done();
	while (copies_running()) {
		region(c, n, &s);
		if (s.check != s.expected)
			wrong = s;
	}
	if (wrong.n != 0)
		line_check(&wrong);
}

static void check_max_n(struct context *c, const char *key, uint64_t n)
{
	if (kernel.max_n != 0 && n > kernel.max_n)
		wrong_arguments(c, "%s=%" PRIu64 " is more than the %" PRIu64 " that can be done at a time", key,
			n, kernel.max_n);
}

static void measure(struct context *c)
{
	struct histogram *latency = private_memory(sizeof *latency);
	uint64_t *walls = private_memory(MAX_BATCHES * sizeof *walls);
	uint64_t resolution = clock_resolution_ns(), target = parameter_u64(c, "target_ns", TARGET_NS);
	if (latency == NULL || walls == NULL)
		failed(c, "mmap");
	note(c, "clock_resolution_ns", "%" PRIu64, resolution);
	note(c, "clock_cost_ps", "%" PRIu64, clock_cost_ps());
	note(c, "tick_ns", "%" PRIu64, tick_ns());
	if (target < 1000 * resolution)
		target = 1000 * resolution;
	uint64_t batch = parameter_u64(c, "batch", 0);
	check_max_n(c, "batch", batch);
	join_copies(c);
	stop_if_failed(c);
	if (kernel.children != CHILDREN_ALONE) /* which have no CPU clock */
		calibrate_usage();
	uint64_t n = calibrate(c, target);
	await_copies(c);
	stop_if_failed(c);
	c->latency = latency;
	uint64_t wall = measure_samples(c, n);
	c->latency = NULL;
	work_until_all_done(c, n);
	if (!kernel.single && wall < COUNTED_NS && parameter_u64(c, "copies", 1) == 1)
		count_region(c, n);
	if (batch != 0)
		measure_batches(c, batch, walls);
	if (latency->count > 0) {
		line("latency ");
		line_histogram(latency);
	}
	line_responses();
}

static void mark(void)
{
	if (stepped)
		kill(getpid(), SIGURG); /* visible to a single-stepping tracer, ignored otherwise */
	else if (counted)
		syscall(SYS_getrusage, MARK, NULL);
}

static void prepare(struct context *c, uint64_t n)
{
	if (kernel.prepare != NULL)
		kernel.prepare(c, n);
	stop_if_failed(c);
}

static void finish(struct context *c, uint64_t n, uint64_t check)
{
	if (c->failed_call == NULL && kernel.finish != NULL)
		kernel.finish(c, n, &check);
	if (kernel.expect != NULL && check != kernel.expect(c, n))
		failed_because(c, "check", "%" PRIu64 " instead of %" PRIu64, check, kernel.expect(c, n));
	stop_if_failed(c);
}

/* Runs n operations once, for timing of the whole process (mode=once), or counting of system calls (mode=count) or instructions
 * (mode=step). Prints only failures. With kernel.files, prepare and finish run in separate processes by mode=prepare and mode=finish, which
 * do nothing for other workloads. */
static void do_once(struct context *c, const char *mode)
{
	uint64_t n = parameter_u64(c, "n", 0), check = 0;
	int separate = kernel.files && !counted;
	if (n == 0)
		wrong_arguments(c, "mode=%s needs n=, the operations to do", mode);
	check_max_n(c, "n", n);
	stop_if_failed(c);
	if (separate && strcmp(mode, "prepare") == 0)
		prepare(c, n);
	if (separate && strcmp(mode, "finish") == 0 && kernel.finish != NULL)
		finish(c, n, check);
	if (strcmp(mode, "prepare") == 0 || strcmp(mode, "finish") == 0)
		return;
	if (strcmp(mode, "once") != 0 && !counted)
		wrong_arguments(c, "unknown mode=%s", mode);
	stop_if_failed(c);
	if (!separate)
		prepare(c, n);
	mark();
	kernel.run(c, n, &check);
	mark();
	stop_if_failed(c);
	if (!separate || kernel.finish == NULL)
		finish(c, n, check);
}

int main(int argc, char **argv)
{
	struct context *c = &context;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	parse_arguments(c, argc, argv);
	const char *mode = parameter(c, "mode", "measure");
	stepped = strcmp(mode, "step") == 0;
	counted = stepped || strcmp(mode, "count") == 0;
	once = strcmp(mode, "measure") != 0;
	if (!once) {
		if (fcntl(3, F_GETFD) < 0) {
			fprintf(stderr, "%s writes to descriptor 3; to see its output: %s 3>&1\n", kernel.name, argv[0]);
			return 2;
		}
		c->has_protocol = 1;
		fcntl(3, F_SETFD, FD_CLOEXEC);
		line("hello protocol=%d kernel=%s", PROTOCOL_VERSION, kernel.name);
		end_line();
		flush_lines();
	}
	stop_if_failed(c);
	place(c, 0);
	stop_if_failed(c);
	if (kernel.setup != NULL)
		kernel.setup(c);
	stop_if_failed(c);
	if (once)
		do_once(c, mode);
	else
		measure(c);
	if (kernel.teardown != NULL)
		kernel.teardown(c);
	stop_if_failed(c);
	if (!once) {
		line("bye");
		end_line();
		flush_lines();
	}
	return 0;
}
