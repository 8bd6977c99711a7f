/* Users at terminals, each with a shell, an editor and a compiler: the program development of hp-1987, section 2, and level 1 of the loads
 * of section 5.
 *
 * users cc=PATH editor=PATH [users=16] [seconds=60]. Each user has its own pseudo-terminal and directory, and repeats these steps: compile
 * a program with mistakes, correct all but one in the editor, compile, correct the last, compile and link, execute, ls, pwd, date
 * (development.h), without think time. A transaction is a command up to its prompt; any unexpected status is an error. With `seconds` it
 * ends, and prints users, transactions, seconds and transactions per hour; without, it is a load program (load_program.h).
 */
#define _GNU_SOURCE
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <time.h>

#include "../multiuser/session.h"
#include "development.h"
#include "load_program.h"

/* Maximum wait for a prompt; generous, since many compilers run concurrently. */
#define TIMEOUT_S 120
#define TAIL 1024

struct user {
	int number, terminal, step;
	double start;
	char tail[TAIL + 1]; /* latest output of the terminal */
	size_t shown;
};

static struct step steps[STEPS];
static int step_count;
static char *source;
static uint64_t transactions;

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Writes the program with its mistakes, and removes the results of the previous round. */
static void begin_round(const struct user *user)
{
	char path[64];
	snprintf(path, sizeof path, "user-%d/program", user->number);
	unlink(path);
	snprintf(path, sizeof path, "user-%d/program.c", user->number);
	int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	size_t length = strlen(source);
	if (file < 0 || write(file, source, length) != (ssize_t)length)
		exit_with(FAILED, "cannot write %s: %s", path, strerror(errno));
	close(file);
}

static void log_in(struct user *user)
{
	char directory[32], *name;
	snprintf(directory, sizeof directory, "user-%d", user->number);
	user->terminal = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (user->terminal < 0 || grantpt(user->terminal) != 0 || unlockpt(user->terminal) != 0 ||
	    (name = ptsname(user->terminal)) == NULL)
		exit_with(SKIPPED, "no pseudo-terminal for user %d: %s; mount devpts on /dev/pts with more of them", user->number,
		      strerror(errno));
	if (mkdir(directory, 0700) != 0)
		exit_with(FAILED, "cannot create %s: %s", directory, strerror(errno));
	pid_t parent = getpid(), pid = fork();
	if (pid < 0)
		exit_with(SKIPPED, "no process for user %d: %s; raise the limit with ulimit -u", user->number, strerror(errno));
	if (pid == 0)
		exec_shell(name, directory, parent);
	user->step = -1; /* the first prompt completes no transaction */
	user->start = now();
}

static void type_step(struct user *user)
{
	const char *keys = steps[user->step].keys;
	if (user->step == 0)
		begin_round(user);
	user->shown = 0;
	user->tail[0] = '\0';
	user->start = now();
	if (write(user->terminal, keys, strlen(keys)) != (ssize_t)strlen(keys))
		exit_with(FAILED, "cannot type at the terminal of user %d: %s", user->number, strerror(errno));
}

/* Whether the current step is complete; the prompt shows the exit status. */
static int is_ready(const struct user *user)
{
	const struct step *step = user->step < 0 ? NULL : &steps[user->step];
	if (step != NULL && step->awaited_text != NULL)
		return strstr(user->tail, step->awaited_text) != NULL;
	const char *prompt = strstr(user->tail, "]> ");
	if (prompt == NULL)
		return 0;
	const char *status = prompt;
	while (status > user->tail && status[-1] >= '0' && status[-1] <= '9')
		status--;
	if (step != NULL && (atoi(status) != 0) != step->expect_failure)
		exit_with(SKIPPED, "a user's '%s' ended with status %d, but should have %s; the terminal showed: %s", step->keys,
		      atoi(status), step->expect_failure ? "failed" : "succeeded", user->tail);
	return 1;
}

/* Reads output, and types the next step if the current one is complete. */
static void handle_output(struct user *user)
{
	char bytes[4096];
	ssize_t n = read(user->terminal, bytes, sizeof bytes);
	if (n <= 0)
		exit_with(FAILED, "the terminal of user %d was closed; it showed: %s", user->number, user->tail);
	for (ssize_t i = 0; i < n; i++) {
		if (user->shown == TAIL) {
			memmove(user->tail, user->tail + TAIL / 2, TAIL / 2);
			user->shown = TAIL / 2;
		}
		if (bytes[i] != '\0')
			user->tail[user->shown++] = bytes[i];
	}
	user->tail[user->shown] = '\0';
	if (!is_ready(user))
		return;
	if (user->step >= 0 && steps[user->step].awaited_text == NULL)
		transactions++;
	user->step = (user->step + 1) % step_count;
	type_step(user);
}

static void run_users(struct user *user, int users, double end)
{
	struct pollfd *fds = calloc((size_t)users, sizeof *fds);
	char unit[64];
	snprintf(unit, sizeof unit, "transactions of %d users", users);
	while (fds != NULL && now() < end) {
		for (int i = 0; i < users; i++)
			fds[i] = (struct pollfd){.fd = user[i].terminal, .events = POLLIN};
		if (poll(fds, (nfds_t)users, 1000) < 0 && errno != EINTR)
			exit_with(FAILED, "poll: %s", strerror(errno));
		for (int i = 0; i < users; i++) {
			if (fds[i].revents != 0)
				handle_output(&user[i]);
			if (now() - user[i].start > TIMEOUT_S)
				exit_with(SKIPPED, "no response to '%s' of user %d for %d s; the terminal showed: %s",
				      user[i].step < 0 ? "sh" : steps[user[i].step].keys, user[i].number, TIMEOUT_S,
				      user[i].tail);
		}
		/* report once every user has completed a transaction on average */
		if (transactions >= (uint64_t)users)
			report_progress(transactions, unit);
	}
	free(fds);
}

int main(int argc, char **argv)
{
	const char *compiler = argument(argc, argv, "cc", NULL), *editor = argument(argc, argv, "editor", NULL);
	int users = atoi(argument(argc, argv, "users", "16"));
	double seconds = atof(argument(argc, argv, "seconds", "0"));
	if (compiler == NULL || editor == NULL || users < 1) {
		fprintf(stderr, "usage: users cc=PATH editor=PATH [users=16] [seconds=60]\n");
		return 2;
	}
	struct user *user = calloc((size_t)users, sizeof *user);
	source = source_text();
	if (user == NULL || source == NULL)
		exit_with(FAILED, "no memory");
	step_count = write_script(steps, compiler, editor);
	for (int i = 0; i < users; i++) {
		user[i].number = i + 1;
		log_in(&user[i]);
	}
	double start = now();
	run_users(user, users, seconds > 0 ? start + seconds : 1e300);
	double elapsed = now() - start;
	printf("users=%d transactions=%llu seconds=%.1f per_hour=%.0f\n", users, (unsigned long long)transactions, elapsed,
	       (double)transactions / elapsed * 3600);
	return 0;
}
