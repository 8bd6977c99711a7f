/* Counts instructions: count FILE COMMAND... executes the command and writes to FILE the number of user-mode instructions that it and its
 * descendants executed, by the hardware counter. It exits with the status of the command, 128 + N after signal N; with status 125 and
 * without FILE if counting is impossible. The counter starts at exec, which excludes this program.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOT_COUNTED 125

static int open_counter(pid_t pid)
{
	struct perf_event_attr attr = {
		.size = sizeof attr,
		.type = PERF_TYPE_HARDWARE,
		.config = PERF_COUNT_HW_INSTRUCTIONS,
		.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
		.disabled = 1,
		.enable_on_exec = 1,
		.inherit = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};
	return (int)syscall(SYS_perf_event_open, &attr, pid, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

static int not_counted(const char *why)
{
	fprintf(stderr, "no count of instructions: %s\n", why);
	return NOT_COUNTED;
}

static int write_count(const char *path, int counter)
{
	uint64_t found[3]; /* the count, time enabled, time running */
	if (read(counter, found, sizeof found) != sizeof found)
		return not_counted(strerror(errno));
	if (found[1] != found[2] || found[2] == 0)
		return not_counted("the counter was multiplexed, or is missing on some processors");
	FILE *file = fopen(path, "w");
	if (file == NULL || fprintf(file, "%" PRIu64 "\n", found[0]) < 0 || fclose(file) != 0)
		return not_counted(strerror(errno));
	return 0;
}

int main(int argc, char **argv)
{
	int go[2], status;
	char byte = 0;
	/* if ignored, the status would be lost */
	signal(SIGCHLD, SIG_DFL);
	if (argc < 3 || pipe2(go, O_CLOEXEC) != 0)
		return not_counted(argc < 3 ? "count FILE COMMAND..." : strerror(errno));
	pid_t child = fork();
	if (child < 0)
		return not_counted(strerror(errno));
	if (child == 0) {
		close(go[1]);
		if (read(go[0], &byte, 1) == 1) {
			execvp(argv[2], argv + 2);
			fprintf(stderr, "%s: %s\n", argv[2], strerror(errno));
		}
		_exit(127);
	}
	close(go[0]);
	int counter = open_counter(child), error = errno;
	ssize_t written = counter < 0 ? 0 : write(go[1], &byte, 1);
	close(go[1]);
	pid_t ended;
	do
		ended = waitpid(child, &status, 0);
	while (ended < 0 && errno == EINTR);
	if (ended != child)
		return not_counted(strerror(errno));
	if (written != 1)
		return not_counted(strerror(error));
	if (WIFSIGNALED(status))
		return 128 + WTERMSIG(status);
	if (WEXITSTATUS(status) != 0)
		return WEXITSTATUS(status);
	return write_count(argv[1], counter);
}
