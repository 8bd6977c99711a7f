/* Concurrent simulations by an installed program, each a process in its own directory.
 *
 * One operation is all of them, from the start of the first until the last is reaped. Each has a seed, new for each operation, which
 * affects its input and the expected output, so that earlier output is wrong. A workload defines input, command and output check.
 * Parameters: users= (concurrent simulations).
 */
#ifndef GRITSTONE_APP_SIMULATIONS_H
#define GRITSTONE_APP_SIMULATIONS_H

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../runtime/kernel.h"

enum { MAX_USERS = 64, WORDS = 16 };

struct simulation {
	uint64_t seed;
	pid_t pid;
	int status;
	char directory[16];
	char word[WORDS][512]; /* command line, set by write_input() */
};

extern char **environ;
static struct simulation simulation[MAX_USERS];
static int users;

/* Defined by the workload: write input and command for the seed; check the output, which may be modified. */
static void write_input(struct context *c, struct simulation *s);
static void check_output(struct context *c, const struct simulation *s, char *text);

static inline FILE *open_file(struct context *c, const struct simulation *s, const char *name, const char *mode)
{
	char path[64];
	snprintf(path, sizeof path, "%s/%s", s->directory, name);
	FILE *file = fopen(path, mode);
	if (file == NULL)
		failed_because(c, "fopen", "%s: %s", path, strerror(errno));
	return file;
}

/* A whole file, 0-terminated, to be freed; NULL on failure. */
static inline char *read_file(struct context *c, const struct simulation *s, const char *name)
{
	struct stat found;
	FILE *file = open_file(c, s, name, "re");
	if (file == NULL)
		return NULL;
	size_t bytes = fstat(fileno(file), &found) == 0 ? (size_t)found.st_size : 0;
	char *text = calloc(bytes + 1, 1);
	if (text == NULL || fread(text, 1, bytes, file) != bytes)
		failed(c, "fread");
	fclose(file);
	return text;
}

static inline void setup_simulations(struct context *c)
{
	uint64_t requested = parameter_u64(c, "users", 1);
	if (requested < 1 || requested > MAX_USERS)
		wrong_arguments(c, "users= is from 1 to %d", MAX_USERS);
	users = (int)requested;
	prctl(PR_SET_CHILD_SUBREAPER, 1); /* detects processes that outlive their simulator */
	for (int i = 0; i < users; i++) {
		snprintf(simulation[i].directory, sizeof simulation[i].directory, "%d", i + 1);
		if (mkdir(simulation[i].directory, 0700) != 0 && errno != EEXIST)
			failed(c, "mkdir");
	}
}

/* Starts a simulation, with output to the file `printed`. Returns 0 on failure. */
static inline int start_simulation(struct context *c, struct simulation *s)
{
	posix_spawn_file_actions_t actions;
	char *argv[WORDS + 1] = {NULL};
	for (int i = 0; i < WORDS && s->word[i][0] != '\0'; i++)
		argv[i] = s->word[i];
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addchdir_np(&actions, s->directory);
	posix_spawn_file_actions_addopen(&actions, 0, "nothing", O_RDONLY | O_CREAT, 0600);
	posix_spawn_file_actions_addopen(&actions, 1, "printed", O_WRONLY | O_CREAT | O_TRUNC, 0600);
	posix_spawn_file_actions_addopen(&actions, 2, "complaints", O_WRONLY | O_CREAT | O_TRUNC, 0600);
	int error = posix_spawn(&s->pid, argv[0], &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	if (error != 0)
		failed_because(c, "posix_spawn", "%s: %s", argv[0], strerror(error));
	return error == 0;
}

static inline void wait_for(struct context *c, struct simulation *s)
{
	while (waitpid(s->pid, &s->status, 0) != s->pid)
		if (errno != EINTR) {
			failed(c, "waitpid");
			return;
		}
}

/* Returns 0 on failure, reported with the program's error output. */
static inline int check_exit(struct context *c, const struct simulation *s)
{
	if (WIFEXITED(s->status) && WEXITSTATUS(s->status) == 0)
		return 1;
	char *message = read_file(c, s, "complaints");
	failed_because(c, "simulator", "%s ended with wait status %#x; it said: %.300s", s->word[0], (unsigned)s->status, message == NULL ? "" : message);
	free(message);
	return 0;
}

static inline void prepare(struct context *c, uint64_t n)
{
	char path[64];
	(void)n;
	for (int i = 0; i < users; i++) {
		snprintf(path, sizeof path, "%s/printed", simulation[i].directory);
		unlink(path);
		if (getrandom(&simulation[i].seed, sizeof simulation[i].seed, 0) != sizeof simulation[i].seed)
			failed(c, "getrandom");
		memset(simulation[i].word, 0, sizeof simulation[i].word);
		write_input(c, &simulation[i]);
	}
}

static inline void run(struct context *c, uint64_t n, uint64_t *check)
{
	int started = 0;
	(void)n;
	(void)check;
	while (started < users && start_simulation(c, &simulation[started]))
		started++;
	for (int i = 0; i < started; i++)
		wait_for(c, &simulation[i]);
}

static inline void finish(struct context *c, uint64_t n, uint64_t *check)
{
	if (waitpid(-1, NULL, WNOHANG) == 0)
		failed_because(c, "simulator", "%s exited before a process that it had started", simulation[0].word[0]);
	for (int i = 0; i < users; i++) {
		char *text = check_exit(c, &simulation[i]) ? read_file(c, &simulation[i], "printed") : NULL;
		if (text != NULL)
			check_output(c, &simulation[i], text);
		free(text);
	}
	*check = n;
}

static inline uint64_t expect(struct context *c, uint64_t n)
{
	(void)c;
	return n;
}

#endif
