/* multiuser/shell: so many shell scripts at once, each started again as soon as it has ended: what a machine does for scripts of all its users.
 *
 * One operation is one script: a shell that sorts a file of 2,000 numbers, looks for a digit in it, dumps it, counts lines, and removes what it
 * made. What it counts is known by other means. Parameter: users=, scripts at once, each in a directory of its own.
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

enum { NUMBERS = 2000, MOST = 4096 };

static const char script[] = "sort -n numbers > sorted && od -b sorted > dumped && { grep -c 7 sorted; wc -l < dumped; } | tee counted > result && "
			     "rm sorted dumped counted";
static pid_t job[MOST];
static uint64_t rounds[MOST], begun_ns[MOST];
static int users;
static char expected[64];

/* The numbers, in an order of their own, and what the script is to count. */
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
	/* a line for each 16 bytes, and one for the end */
	snprintf(expected, sizeof expected, "%lu\n%lu\n", sevens, (bytes + 15) / 16 + 1);
}

static void start(struct context *c, int i)
{
	char name[32];
	pid_t parent = getpid();
	snprintf(name, sizeof name, "job-%d", i);
	begun_ns[i] = now_ns();
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

static int is_right(int i)
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

/* Waits for the end of one script, and starts it again; whether it was right. */
static int one_more(struct context *c)
{
	int status, i = 0;
	pid_t ended = wait(&status);
	while (i < users && job[i] != ended)
		i++;
	if (i == users) {
		failed_because(c, "wait", "a process ended that was no script: %d", (int)ended);
		return 0;
	}
	if (status != 0 || !is_right(i)) {
		failed_because(c, "script", "a script ended with wait status %d, or did not count what it must", status);
		return 0;
	}
	respond(c, (uint64_t)users, "script", begun_ns[i], now_ns());
	rounds[i]++;
	start(c, i);
	return 1;
}

/* One script at least is done by each before the first sample. */
static void setup(struct context *c)
{
	users = (int)parameter_u64(c, "users", 1);
	if (users < 1 || users > MOST)
		wrong_arguments(c, "users= is from 1 to %d", MOST);
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
			if (!one_more(c))
				return;
}

static void run(struct context *c, uint64_t n, uint64_t *check)
{
	while (*check < n && one_more(c))
		++*check;
}

static uint64_t expect(struct context *c, uint64_t n)
{
	(void)c;
	return n;
}

/* The scripts that are at work are waited for: each has processes of its own, which must not be left. */
static void teardown(struct context *c)
{
	(void)c;
	while (wait(NULL) > 0)
		;
}

const struct kernel kernel = {
	.name = "multiuser/shell", .setup = setup, .run = run, .expect = expect, .teardown = teardown, .children = CHILDREN_ALONE};
