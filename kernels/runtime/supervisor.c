/* Keeps one program: whatever it starts ends with it, and it ends with whoever started the supervisor.
 *
 * supervisor PARENT CPUS STEADY DIRECTORY PROGRAM [ARGUMENT...]. The program may use CPUS, such as 0-3,7 (`-`: those of the supervisor, which
 * stays where it is, out of the way of what is measured), and begins in DIRECTORY. STEADY is a list of words, one a line, for this program alone (`-`: none):
 * `layout`, the same layout of memory every time; `realtime`, SCHED_FIFO, which its children do not inherit;
 * `group=DIRECTORY`, a control group that it joins, and its children with it; `processes=N`, at most so many of the user. What is
 * refused ends the supervisor's attempt with status 126. The supervisor adopts every descendant whose parent dies (subreaper). When the
 * program ends, or SIGTERM comes, or the parent (process PARENT) dies, all descendants that are left are killed and
 * reaped. It then says on its report, in one line, how the program ended and how many it left behind:
 * `exit=0 left=0` or `signal=9 left=2`. It sleeps while the program runs.
 *
 * Whoever starts it gives it the program's descriptor 3 as standard output and the report as standard input, both open
 * for writing: those can be handed over without a fork of the starter's memory (posix_spawn), others
 * cannot, and not every C library can change the directory there.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
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

#define PROGRAM_FD 3
#define REPORT_FD 4

static sigset_t signals; /* those that end it, and SIGCHLD */

/* Reads what a file says, as a string; -1 where it cannot. */
static ssize_t slurp(const char *path, char *text, size_t room)
{
	int file = open(path, O_RDONLY | O_CLOEXEC);
	if (file < 0)
		return -1;
	ssize_t length = read(file, text, room - 1);
	close(file);
	text[length > 0 ? length : 0] = '\0';
	return length;
}

/* The parent of a process by /proc/PID/stat; its command may hold blanks and brackets, so look behind the last one. -1 where it has
 * gone, or is dead and only waits to be reaped. */
static pid_t parent_of(pid_t pid)
{
	char path[64], text[512], state;
	int parent;
	snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
	if (slurp(path, text, sizeof text) <= 0)
		return -1;
	const char *after = strrchr(text, ')');
	if (after == NULL || sscanf(after, ") %c %d", &state, &parent) != 2 || state == 'Z')
		return -1;
	return parent;
}

/* Whether /proc counts processes as we do: in a PID namespace without a /proc of its own, the numbers there are other
 * processes' here, and not to be killed. */
static int proc_is_ours(void)
{
	char self[32];
	ssize_t length = readlink("/proc/self", self, sizeof self - 1);
	if (length < 0)
		return 0;
	self[length] = '\0';
	return atoi(self) == getpid();
}

/* Kills the children that are there now. Theirs come to us when they die, and get their turn. */
static void kill_children(pid_t main_pid, int main_ended)
{
	DIR *proc = proc_is_ours() ? opendir("/proc") : NULL;
	const struct dirent *entry;
	if (proc == NULL) {
		if (!main_ended)
			kill(main_pid, SIGKILL); /* the only one whose number we know */
		return;
	}
	while ((entry = readdir(proc)) != NULL) {
		pid_t pid = atoi(entry->d_name);
		if (pid > 0 && parent_of(pid) == getpid())
			kill(pid, SIGKILL);
	}
	closedir(proc);
}

/* Moves us out of our process group: into that of our parent or, where that is dead and another session's init has us, into that of
 * a child that does nothing, which is returned. 0 where none was needed, -1 where none could be made. */
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

/* Kills our process group at one stroke, in which whoever forks without end cannot be ahead of us; for that we leave it. Whether that
 * was possible: it may not be while the user has as many processes as he may. Those who have left it too are found one by one. */
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

/* Until nobody is left; how many had to be killed, the main program apart, whose status is kept if it is among them.
 * Those who are dead already are reaped first: nearly always that is all, and no walk through /proc is needed. */
static int kill_all(pid_t main_pid, int *main_ended, int *status)
{
	int left = 0, group_is_dead = 0, s, how = WNOHANG;
	for (;;) {
		pid_t pid = waitpid(-1, &s, how);
		if (pid < 0 && errno == ECHILD)
			return left;
		if (pid == main_pid) {
			*main_ended = 1;
			*status = s;
		} else if (pid > 0 && how == 0) {
			left++;
		}
		if (pid == 0)
			how = 0;
		if (how == 0 && !group_is_dead)
			group_is_dead = kill_group();
		if (how == 0)
			kill_children(main_pid, *main_ended);
	}
}

/* Says what could not be done, and why, and ends. */
static _Noreturn void refused(int status, const char *what, const char *which)
{
	dprintf(STDERR_FILENO, "cannot %s%s: %s\n", what, which, strerror(errno));
	_exit(status);
}

/* A number that a text begins with, behind which the text stands then; -1 where there is none, or one beyond 10^9. */
static long take_number(const char **text)
{
	char *end;
	if (**text < '0' || **text > '9')
		return -1;
	long number = strtol(*text, &end, 10);
	*text = end;
	return number > 1000000000 ? -1 : number;
}

/* Lets the process use the CPUs of a list such as 0-3,7. */
static int use_cpus(const char *list)
{
	enum { MOST = 1 << 16 };
	static cpu_set_t set[CPU_ALLOC_SIZE(MOST) / sizeof(cpu_set_t)];
	while (*list != '\0') {
		long first = take_number(&list), last = first;
		if (*list == '-') {
			list++;
			last = take_number(&list);
		}
		if (first < 0 || last < first || last >= MOST || (*list != ',' && *list != '\0')) {
			errno = EINVAL;
			return -1;
		}
		for (long cpu = first; cpu <= last; cpu++)
			CPU_SET_S((size_t)cpu, sizeof set, set);
		list += *list == ',';
	}
	return sched_setaffinity(0, sizeof set, set);
}

/* Moves this process into a control group; its memory is charged there from now on. */
static void join(const char *group)
{
	char path[4096];
	if ((size_t)snprintf(path, sizeof path, "%s/cgroup.procs", group) >= sizeof path) {
		errno = ENAMETOOLONG;
		refused(126, "join a control group", "");
	}
	int file = open(path, O_WRONLY | O_CLOEXEC);
	if (file < 0 || write(file, "0", 1) != 1) /* 0 is whoever writes */
		refused(126, "join a control group", "");
	close(file);
}

/* At most so many processes of the user. */
static void limit_processes(const char *number)
{
	struct rlimit most;
	const long wanted = take_number(&number);
	/* the user may be held to fewer already */
	if (getrlimit(RLIMIT_NPROC, &most) != 0)
		refused(126, "read the limit on processes", "");
	if (wanted < 0) {
		errno = EINVAL;
		refused(126, "limit the number of processes", "");
	}
	if (most.rlim_max == RLIM_INFINITY || most.rlim_max > (rlim_t)wanted)
		most.rlim_max = (rlim_t)wanted;
	most.rlim_cur = most.rlim_max;
	if (setrlimit(RLIMIT_NPROC, &most) != 0)
		refused(126, "limit the number of processes", "");
}

/* Does to this process what a word says. */
static void steady(const char *word)
{
	const struct sched_param lowest = {.sched_priority = 1};
	if (strcmp(word, "layout") == 0) {
		int now = personality(0xffffffff);
		if (now < 0 || personality((unsigned long)now | ADDR_NO_RANDOMIZE) < 0)
			refused(126, "fix the layout of memory", "");
	} else if (strcmp(word, "realtime") == 0) {
		if (sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &lowest) != 0)
			refused(126, "use SCHED_FIFO", "");
	} else if (strncmp(word, "group=", 6) == 0) {
		join(word + 6);
	} else if (strncmp(word, "processes=", 10) == 0) {
		limit_processes(word + 10);
	} else if (*word != '\0' && strcmp(word, "-") != 0) {
		errno = EINVAL;
		refused(126, word, "");
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
		_exit(126); /* the supervisor was killed before we were tied to it */
	if (strcmp(cpus, "-") != 0 && use_cpus(cpus) != 0)
		refused(126, "use the CPUs ", cpus);
	/* no control group has an end of line in its name */
	for (char *word; (word = strsep(&words, "\n")) != NULL;)
		steady(word);
	if (chdir(directory) != 0)
		refused(126, "begin in ", directory);
	sigprocmask(SIG_UNBLOCK, &signals, NULL);
	close(REPORT_FD);
	/* whoever wrote the program a moment ago may have forked with it open: busy until that child executes something */
	for (int i = 0; i < 1000; i++) {
		execv(argv[0], argv);
		if (errno != ETXTBSY)
			break;
		usleep(1000);
	}
	refused(127, "execute ", argv[0]);
}

/* Waits for the end of the program, or for the order to stop. */
static void keep(pid_t pid, int *ended, int *status)
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

/* Puts the descriptors where the program expects them, and nothing where they came. */
static int sort_descriptors(void)
{
	if (dup2(1, PROGRAM_FD) < 0 || dup2(0, REPORT_FD) < 0)
		return -1;
	int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (nothing < 0) /* a root without devices: an empty file in memory has nothing to read either */
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
	if (sort_descriptors() != 0)
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
		return 3; /* the parent was gone before we were tied to it */
	pid_t pid = start(argv[2], argv[3], argv[4], argv + 5);
	if (pid < 0) {
		dprintf(REPORT_FD, "fork=%d\n", errno);
		return 1;
	}
	close(PROGRAM_FD); /* the program's: its reader must see the end when the program and all of its children have gone */
	keep(pid, &ended, &status);
	int left = kill_all(pid, &ended, &status);
	if (WIFSIGNALED(status))
		dprintf(REPORT_FD, "signal=%d left=%d\n", WTERMSIG(status), left);
	else
		dprintf(REPORT_FD, "exit=%d left=%d\n", WEXITSTATUS(status), left);
	return 0;
}
