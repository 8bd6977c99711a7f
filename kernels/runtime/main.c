/* One launch: calibration, the proof that time grows with n, samples, the published work in batches.
 *
 * Arguments, all of them key=value: mode=measure (default), once, prepare, finish, count or step; samples=, target_ns=, sample_ns= (see below),
 * warm=0 (no warm-up where an operation is a figure of its own),
 * batch= (operations of the published work) and batch_ns=; n= (operations to do with mode=once, count or step; with mode=measure those that an
 * earlier launch found) and growth=0 (that time grows with n was shown by others); cpus=; copies= and meeting= (see copies.c); whatever
 * the kernel asks for.
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
#define FEWEST_SAMPLES 5
#define MOST_SAMPLES 20
/* Time of the samples of a launch, ns, where neither their fewest nor their most decides. */
#define SAMPLES_NS 40000000
/* The SMT probe beside a neighbor is half as long again, and scatters by a thousandth without one. */
#define ALONE 1.05
#define MAX_BATCHES 4096
/* Time of a sample, ns, at least; up to twice that. */
#define TARGET_NS 1500000
#define COUNTED_NS 50000000
#define MAX_N ((uint64_t)1 << 40)

/* Invalid argument of getrusage(2), by which a tracer knows where the work begins and ends. */
#define MARK 19840801

static struct context context;
static int counted, stepped, counting;
int once;

/* One timed region, with what goes before and after it untimed. */
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

static uint64_t warm(struct context *c, uint64_t n)
{
	struct sample s;
	region(c, n, &s);
	line("warm n=%" PRIu64 " wall=%" PRIu64, s.n, s.wall);
	end_line();
	if (s.check != s.expected)
		line_check(&s);
	return s.wall;
}

/* What an earlier launch found, if it still fits: calibration ends between one and two target_ns, and twice off is too far. 0: it
 * does not, or there is none. */
static uint64_t told(struct context *c, uint64_t most, uint64_t target_ns, uint64_t *wall)
{
	uint64_t n = parameter_u64(c, "n", 0);
	if (n == 0 || n > most)
		return 0;
	*wall = warm(c, n);
	int long_enough = 2 * *wall >= target_ns || n == kernel.max_n;
	return long_enough && (*wall < 4 * target_ns || n == 1) ? n : 0;
}

/* Doubles n until n operations take target_ns, twice over, so that one gap in the machine's attention does not pass
 * for work. */
static uint64_t find(struct context *c, uint64_t most, uint64_t target_ns, uint64_t *took)
{
	uint64_t n = 1, wall;
	for (;;) {
		wall = warm(c, n);
		if (wall >= target_ns && warm(c, n) >= target_ns)
			break;
		if (n >= most)
			break;
		n = 2 * n <= most ? 2 * n : most;
	}
	if (wall < target_ns && kernel.max_n == 0) {
		failed_because(c, "calibrate",
			"%" PRIu64 " operations took %" PRIu64 " ns: time does not grow with n, so no work is done", n,
			wall);
		stop_if_failed(c);
	}
	*took = wall;
	return n;
}

/* The warm-up of a region that is one operation, with the counters open: such work is too long to be done again for them. */
static void warm_and_count(struct context *c)
{
	counting = parameter_u64(c, "copies", 1) == 1 && counters_open();
	warm(c, 1);
	if (counting) {
		line_counters(1);
		counters_close();
		counting = 0;
	}
}

/* The operations of a region; then shows, with three regions each, that they take about twice as long as half of them. */
static uint64_t calibrate(struct context *c, uint64_t target_ns)
{
	uint64_t most = kernel.max_n != 0 ? kernel.max_n : MAX_N, wall;
	if (kernel.single) {
		if (parameter_u64(c, "warm", 1) != 0)
			warm_and_count(c);
		return 1;
	}
	uint64_t n = told(c, most, target_ns, &wall);
	if (n == 0)
		n = find(c, most, target_ns, &wall);
	if (parameter_u64(c, "growth", 1) == 0)
		return n;
	uint64_t high = n > 1 || most < 2 ? n : 2;
	for (int i = wall > 50000000 ? 1 : 0; i < 3; i++) {
		warm(c, high / 2 > 0 ? high / 2 : 1);
		warm(c, high);
	}
	return n;
}

/* The same work once more with the counters open, where there are any; longer work than COUNTED_NS is not done again for them. What was counted
 * in its warm-up is not counted again. */
static void count(struct context *c, uint64_t n)
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

/* As many samples as take SAMPLES_NS. */
static uint64_t usual_samples(uint64_t wall)
{
	uint64_t some = wall > 0 ? SAMPLES_NS / wall : MOST_SAMPLES;
	return some < FEWEST_SAMPLES ? FEWEST_SAMPLES : some > MOST_SAMPLES ? MOST_SAMPLES : some;
}

/* Samples with the probes on either side: samples=, else until there are as many as usual without contention, in at most three times as
 * many; fewer when they take longer than sample_ns together. Contention is relative to the least that the launch has seen: where it
 * lasts for all of the launch, the harness knows from other launches, and repeats it. Returns the time of the last. */
static uint64_t measure_samples(struct context *c, uint64_t n)
{
	uint64_t budget = parameter_u64(c, "sample_ns", 400000000), copies = parameter_u64(c, "copies", 1);
	uint64_t exact = parameter_u64(c, "samples", UINT64_MAX), usual = 1, undisturbed = 0;
	double shares[MAX_SAMPLES], least = 1;
	struct sample s = {0};
	struct probe before, after;
	uint64_t start = now_ns();
	if (exact == 0)
		return 0;
	read_probe(&before);
	uint64_t most = exact != UINT64_MAX ? exact : MAX_SAMPLES;
	for (uint64_t i = 0; i < most && (i == 0 || now_ns() - start < budget); i++) {
		region(c, n, &s);
		if (c->left_out)
			continue;
		read_probe(&after);
		struct probe both = of_both_sides(&before, &after);
		line_sample("sample", &s, &both);
		line_check(&s);
		before = after;
		if (exact != UINT64_MAX)
			continue;
		if (i == 0)
			usual = usual_samples(s.wall);
		shares[i] = wide_share(&both);
		least = shares[i] < least ? shares[i] : least;
		undisturbed = 0;
		for (uint64_t j = 0; j <= i; j++)
			undisturbed += copies > 1 || shares[j] <= least * ALONE;
		if (undisturbed >= usual || i + 1 >= 3 * usual)
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

/* The published work, done as one batch at a time, for batch_ns or at least once. */
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
	struct probe probe = of_both_sides(&before, &after);
	line("batch n=%" PRIu64 " pace=%" PRIu64 " wide=%" PRIu64, n, probe.pace, probe.wide);
	line_usage(&sum);
	line(" walls=");
	for (uint64_t i = 0; i < count; i++)
		line("%s%" PRIu64, i == 0 ? "" : ",", walls[i]);
	end_line();
	line_check(wrong.n != 0 ? &wrong : &s);
}

/* The same work on and on, untimed, until every other copy has its samples. */
static void keep_working(struct context *c, uint64_t n)
{
	struct sample s, wrong = {0};
	copy_done();
	while (copies_work()) {
		region(c, n, &s);
		if (s.check != s.expected)
			wrong = s;
	}
	if (wrong.n != 0)
		line_check(&wrong);
}

/* More than the kernel can do at a time would be less work than was asked for, or worse. */
static void at_a_time(struct context *c, const char *key, uint64_t n)
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
	at_a_time(c, "batch", batch);
	join_copies(c);
	stop_if_failed(c);
	learn_reading_cost();
	uint64_t n = calibrate(c, target);
	meet_copies(c);
	stop_if_failed(c);
	c->latency = latency;
	uint64_t wall = measure_samples(c, n);
	c->latency = NULL;
	keep_working(c, n);
	if (!kernel.single && wall < COUNTED_NS && parameter_u64(c, "copies", 1) == 1)
		count(c, n);
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
		kill(getpid(), SIGURG); /* which a tracer sees that steps through us; nobody else minds */
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
		failed_because(c, "check", "%" PRIu64 " came out, %" PRIu64 " is right", check, kernel.expect(c, n));
	stop_if_failed(c);
}

/* n operations once, for whoever times the whole process (mode=once), counts entries into the kernel (mode=count) or instructions (mode=step). Says
 * nothing unless it fails. What goes before and after it on files has processes of its own beside mode=once: mode=prepare
 * and mode=finish, which do nothing for other kernels. */
static void do_once(struct context *c, const char *mode)
{
	uint64_t n = parameter_u64(c, "n", 0), check = 0;
	int apart = kernel.files && !counted;
	if (n == 0)
		wrong_arguments(c, "mode=%s needs n=, the operations to do", mode);
	at_a_time(c, "n", n);
	stop_if_failed(c);
	if (apart && strcmp(mode, "prepare") == 0)
		prepare(c, n);
	if (apart && strcmp(mode, "finish") == 0 && kernel.finish != NULL)
		finish(c, n, check);
	if (strcmp(mode, "prepare") == 0 || strcmp(mode, "finish") == 0)
		return;
	if (strcmp(mode, "once") != 0 && !counted)
		wrong_arguments(c, "mode=%s is none that there is", mode);
	stop_if_failed(c);
	if (!apart)
		prepare(c, n);
	mark();
	kernel.run(c, n, &check);
	mark();
	stop_if_failed(c);
	if (!apart || kernel.finish == NULL)
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
			fprintf(stderr, "%s speaks on descriptor 3; to see what it says: %s 3>&1\n", kernel.name, argv[0]);
			return 2;
		}
		c->speaks = 1;
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
