/* multiuser/shell: throughput of users= concurrent shell scripts, each restarted when it ends.
 *
 * One operation is one script: sort a file of 2,000 numbers, grep a digit, dump it by od(1), count lines, remove the files. The expected
 * counts are computed in C. Each script has a directory of its own.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../runtime/kernel.h"

enum { NUMBERS = 2000, MAX_USERS = 4096 };

static const char script[] = "sort -n numbers > sorted && od -b sorted > dumped && { grep -c 7 sorted; wc -l < dumped; } | tee counted > result && "
			     "rm sorted dumped counted";
static pid_t job[MAX_USERS];
static uint64_t rounds[MAX_USERS], start_ns[MAX_USERS];
static int users;
static char expected[64];

/* Writes the numbers, unsorted, and computes the expected counts. */
static void write_numbers(struct context *c)
{
	unsigned long sevens = 0, bytes = 0;
	FILE *file = fopen("numbers", "we");
	for (unsigned i = 0; file != NULL && i < NUMBERS; i++) {
		char line[16];
		bytes += (unsigned long)snprintf(line, sizeof line, "%u\n", (i * 7919u + 13u) % 100003u);
		sevens += strchr(line, '7') != NULL;
		fputs(line, file);
	}
	if (file == NULL || fclose(file) != 0)
		failed(c, "write");
	/* od(1): one line per 16 bytes and a final offset */
	snprintf(expected, sizeof expected, "%lu\n%lu\n", sevens, (bytes + 15) / 16 + 1);
}

static void start(struct context *c, int i)
{
	char name[32];
	pid_t parent = getpid();
	snprintf(name, sizeof name, "job-%d", i);
	start_ns[i] = now_ns();
	job[i] = fork();
	if (job[i] < 0)
		failed(c, "fork");
	if (job[i] != 0)
		return;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() == parent && chdir(name) == 0)
		execl("/bin/sh", "sh", "-c", script, (char *)NULL);
	_exit(127);
}

static int is_correct(int i)
{
	char name[32], text[sizeof expected] = "";
	snprintf(name, sizeof name, "job-%d/result", i);
	int file = open(name, O_RDONLY | O_CLOEXEC);
	ssize_t n = file < 0 ? -1 : read(file, text, sizeof text - 1);
	if (file >= 0)
		close(file);
	unlink(name);
	return n > 0 && strcmp(text, expected) == 0;
}

/* Returns 0 on failure. */
static int wait_and_restart(struct context *c)
{
	int status, i = 0;
	pid_t ended = wait(&status);
	while (i < users && job[i] != ended)
		i++;
	if (i == users) {
		failed_because(c, "wait", "an unknown child process ended: %d", (int)ended);
		return 0;
	}
	if (status != 0 || !is_correct(i)) {
		failed_because(c, "script", "a script ended with wait status %d, or with wrong counts", status);
		return 0;
	}
	respond(c, (uint64_t)users, "script", start_ns[i], now_ns());
	rounds[i]++;
	start(c, i);
	return 1;
}

/* Each user completes one script before the first sample. */
static void setup(struct context *c)
{
	users = (int)parameter_u64(c, "users", 1);
	if (users < 1 || users > MAX_USERS)
		wrong_arguments(c, "users= is from 1 to %d", MAX_USERS);
	write_numbers(c);
	for (int i = 0; i < users; i++) {
		char from[32], name[32];
		snprintf(from, sizeof from, "job-%d", i);
		snprintf(name, sizeof name, "job-%d/numbers", i);
		if (mkdir(from, 0700) != 0 || link("numbers", name) != 0) {
			failed(c, "link");
			return;
		}
		start(c, i);
	}
	for (int i = 0; i < users; i++)
		while (rounds[i] == 0)
			if (!wait_and_restart(c))
				return;
}

static void run(struct context *c, uint64_t n, uint64_t *check)
{
	while (*check < n && wait_and_restart(c))
		++*check;
}

static uint64_t expect(struct context *c, uint64_t n)
{
	(void)c;
	return n;
}

/* Waits for running scripts, since killing a shell would leave its children. */
static void teardown(struct context *c)
{
	(void)c;
	while (wait(NULL) > 0)
		;
}

const struct kernel kernel = {
	.name = "multiuser/shell", .setup = setup, .run = run, .expect = expect, .teardown = teardown, .children = CHILDREN_ALONE};
