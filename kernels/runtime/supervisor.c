/* Supervises one program: its descendants end with it, and it ends with the process that started the supervisor.
 *
 * supervisor PARENT CPUS STEADY DIRECTORY PROGRAM [ARGUMENT...]. CPUS is the program's affinity, such as 0-3,7 (`-`: inherited; the
 * supervisor itself keeps its own, away from the measured CPUs); DIRECTORY is its working directory. STEADY is a list of settings for the
 * program, one per line (`-`: none): `layout`, no ASLR; `realtime`, SCHED_FIFO, not inherited by children; `group=DIRECTORY`, a control
 * group to join; `processes=N`, RLIMIT_NPROC. If a setting fails, the attempt ends with status 126. The supervisor is a subreaper. When the
 * program exits, or on SIGTERM, or when the parent (process PARENT) dies, it kills and reaps all remaining descendants. It then reports in
 * one line how the program ended and how many descendants were left: `exit=0 left=0` or `signal=9 left=2`. It sleeps while the program
 * runs.
 *
 * Its standard output is the program's descriptor 3, its standard input the report, both open for writing: posix_spawn can pass these
 * without forking the harness's memory, but not every C library can pass others or change the directory.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cpus.h"

#define PROGRAM_FD 3
#define REPORT_FD 4

static sigset_t signals; /* termination signals and SIGCHLD */

/* Returns -1 on failure. */
static ssize_t read_file(const char *path, char *text, size_t size)
{
	int file = open(path, O_RDONLY | O_CLOEXEC);
	if (file < 0)
		return -1;
	ssize_t length = read(file, text, size - 1);
	close(file);
	text[length > 0 ? length : 0] = '\0';
	return length;
}

/* The parent of a process by /proc/PID/stat, parsed after the last bracket, since the command may contain blanks and brackets. -1 for
 * missing processes and zombies. */
static pid_t parent_pid(pid_t pid)
{
	char path[64], text[512], state;
	int parent;
	snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
	if (read_file(path, text, sizeof text) <= 0)
		return -1;
	const char *after = strrchr(text, ')');
	if (after == NULL || sscanf(after, ") %c %d", &state, &parent) != 2 || state == 'Z')
		return -1;
	return parent;
}

/* Whether /proc belongs to this PID namespace; otherwise its numbers mean other processes here, which must not be killed. */
static int is_own_proc(void)
{
	char self[32];
	ssize_t length = readlink("/proc/self", self, sizeof self - 1);
	if (length < 0)
		return 0;
	self[length] = '\0';
	return atoi(self) == getpid();
}

/* Kills the current children. Grandchildren are adopted when these die, and killed next. */
static void kill_children(pid_t main_pid, int main_ended)
{
	DIR *proc = is_own_proc() ? opendir("/proc") : NULL;
	const struct dirent *entry;
	if (proc == NULL) {
		if (!main_ended)
			kill(main_pid, SIGKILL); /* the only known pid */
		return;
	}
	while ((entry = readdir(proc)) != NULL) {
		pid_t pid = atoi(entry->d_name);
		if (pid > 0 && parent_pid(pid) == getpid())
			kill(pid, SIGKILL);
	}
	closedir(proc);
}

/* Leaves our process group: for the parent's or, if the parent is dead and an init of another session has adopted us, for that of an idle
 * child, which is returned. Returns 0 without a child, -1 on failure. */
static pid_t leave_group(void)
{
	if (setpgid(0, getpgid(getppid())) == 0)
		return 0;
	pid_t other = fork();
	if (other == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			sigwaitinfo(&signals, NULL);
	}
	if (other > 0) {
		setpgid(other, other);
		setpgid(0, other);
	}
	return other;
}

/* Leaves our process group and kills it atomically, which a fork bomb cannot outrun. Returns whether that was possible: not while the user
 * is at RLIMIT_NPROC. Processes outside the group are found one by one. */
static int kill_group(void)
{
	if (getpgrp() != getpid())
		return 1;
	pid_t other = leave_group();
	int left = getpgrp() != getpid();
	if (left)
		kill(-getpid(), SIGKILL);
	if (other > 0) {
		kill(other, SIGKILL);
		waitpid(other, NULL, 0);
	}
	return left;
}

/* Returns the number of killed descendants without the main program, whose status is stored if it was still running. All
 * zombies are reaped before each scan of /proc: usually these are all, and many descendants take few scans. */
static int kill_all(pid_t main_pid, int *main_ended, int *status)
{
	int left = 0, kills = 0, group_is_dead = 0, s, options = WNOHANG;
	for (;;) {
		pid_t pid = waitpid(-1, &s, options);
		if (pid < 0 && errno == ECHILD)
			return left;
		if (pid == main_pid) {
			*main_ended = 1;
			*status = s;
		} else if (pid > 0 && kills) {
			left++;
		}
		options = WNOHANG;
		if (pid != 0)
			continue;
		kills = 1;
		if (!group_is_dead)
			group_is_dead = kill_group();
		kill_children(main_pid, *main_ended);
		options = 0;
	}
}

static _Noreturn void fail_child(int status, const char *what, const char *which)
{
	dprintf(STDERR_FILENO, "cannot %s%s: %s\n", what, which, strerror(errno));
	_exit(status);
}

/* Parses a number and advances the text; -1 if there is none, or above 10^9. */
static long parse_number(const char **text)
{
	char *end;
	if (**text < '0' || **text > '9')
		return -1;
	long number = strtol(*text, &end, 10);
	*text = end;
	return number > 1000000000 ? -1 : number;
}

/* Parses a CPU list such as 0-3,7. */
static int use_cpus(const char *list)
{
	static struct cpu_mask mask;
	while (*list != '\0') {
		long first = parse_number(&list), last = first;
		if (*list == '-') {
			list++;
			last = parse_number(&list);
		}
		if (first < 0 || last < first || last >= NR_CPUS || (*list != ',' && *list != '\0')) {
			errno = EINVAL;
			return -1;
		}
		for (long cpu = first; cpu <= last; cpu++)
			CPU_SET_S((size_t)cpu, sizeof mask, mask.part);
		list += *list == ',';
	}
	return sched_setaffinity(0, sizeof mask, mask.part);
}

/* Joins a control group. */
static void join(const char *group)
{
	char path[4096];
	if ((size_t)snprintf(path, sizeof path, "%s/cgroup.procs", group) >= sizeof path) {
		errno = ENAMETOOLONG;
		fail_child(126, "join a control group", "");
	}
	int file = open(path, O_WRONLY | O_CLOEXEC);
	if (file < 0 || write(file, "0", 1) != 1) /* 0: the writing process */
		fail_child(126, "join a control group", "");
	close(file);
}

static void limit_processes(const char *number)
{
	struct rlimit limit;
	const long value = parse_number(&number);
	/* keeps a lower existing limit */
	if (getrlimit(RLIMIT_NPROC, &limit) != 0)
		fail_child(126, "read the limit on processes", "");
	if (value < 0) {
		errno = EINVAL;
		fail_child(126, "limit the number of processes", "");
	}
	if (limit.rlim_max == RLIM_INFINITY || limit.rlim_max > (rlim_t)value)
		limit.rlim_max = (rlim_t)value;
	limit.rlim_cur = limit.rlim_max;
	if (setrlimit(RLIMIT_NPROC, &limit) != 0)
		fail_child(126, "limit the number of processes", "");
}

static void apply_setting(const char *word)
{
	const struct sched_param lowest = {.sched_priority = 1};
	if (strcmp(word, "layout") == 0) {
		int now = personality(0xffffffff);
		if (now < 0 || personality((unsigned long)now | ADDR_NO_RANDOMIZE) < 0)
			fail_child(126, "fix the layout of memory", "");
	} else if (strcmp(word, "realtime") == 0) {
		if (sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &lowest) != 0)
			fail_child(126, "use SCHED_FIFO", "");
	} else if (strncmp(word, "group=", 6) == 0) {
		join(word + 6);
	} else if (strncmp(word, "processes=", 10) == 0) {
		limit_processes(word + 10);
	} else if (*word != '\0' && strcmp(word, "-") != 0) {
		errno = EINVAL;
		fail_child(126, word, "");
	}
}

static pid_t start(const char *cpus, char *words, const char *directory, char **argv)
{
	const pid_t supervisor = getpid();
	pid_t pid = fork();
	if (pid != 0)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != supervisor)
		_exit(126); /* the supervisor died before PR_SET_PDEATHSIG took effect */
	if (strcmp(cpus, "-") != 0 && use_cpus(cpus) != 0)
		fail_child(126, "use the CPUs ", cpus);
	/* names of control groups contain no newline */
	for (char *word; (word = strsep(&words, "\n")) != NULL;)
		apply_setting(word);
	if (chdir(directory) != 0)
		fail_child(126, "begin in ", directory);
	sigprocmask(SIG_UNBLOCK, &signals, NULL);
	close(REPORT_FD);
	/* the process that wrote it may have forked with the file open: busy until that child calls exec */
	for (int i = 0; i < 1000; i++) {
		execv(argv[0], argv);
		if (errno != ETXTBSY)
			break;
		usleep(1000);
	}
	fail_child(127, "execute ", argv[0]);
}

/* Waits for the end of the program, or a termination signal. */
static void wait_for_program(pid_t pid, int *ended, int *status)
{
	int s;
	pid_t dead;
	while (!*ended) {
		int signal = sigwaitinfo(&signals, NULL);
		if (signal == SIGTERM || signal == SIGINT || signal == SIGHUP)
			return;
		while ((dead = waitpid(-1, &s, WNOHANG)) > 0)
			if (dead == pid) {
				*ended = 1;
				*status = s;
			}
	}
}

/* Moves the descriptors to their numbers in the program, and replaces 0 and 1 by /dev/null. */
static int move_descriptors(void)
{
	if (dup2(1, PROGRAM_FD) < 0 || dup2(0, REPORT_FD) < 0)
		return -1;
	int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (nothing < 0) /* without /dev/null: an empty file */
		nothing = memfd_create("nothing", MFD_CLOEXEC);
	return nothing < 0 || dup2(nothing, 0) < 0 || dup2(nothing, 1) < 0 ? -1 : 0;
}

int main(int argc, char **argv)
{
	int status = 0, ended = 0;
	if (argc < 6) {
		fputs("usage: supervisor PARENT CPUS STEADY DIRECTORY PROGRAM [ARGUMENT...]\n", stderr);
		return 2;
	}
	if (move_descriptors() != 0)
		return 4;
	sigemptyset(&signals);
	sigaddset(&signals, SIGCHLD);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGHUP);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != atoi(argv[1]))
		return 3; /* the parent died before PR_SET_PDEATHSIG took effect */
	pid_t pid = start(argv[2], argv[3], argv[4], argv + 5);
	if (pid < 0) {
		dprintf(REPORT_FD, "fork=%d\n", errno);
		return 1;
	}
	close(PROGRAM_FD); /* so that its reader gets EOF when the program and its children have exited */
	wait_for_program(pid, &ended, &status);
	int left = kill_all(pid, &ended, &status);
	if (WIFSIGNALED(status))
		dprintf(REPORT_FD, "signal=%d left=%d\n", WTERMSIG(status), left);
	else
		dprintf(REPORT_FD, "exit=%d left=%d\n", WEXITSTATUS(status), left);
	return 0;
}
