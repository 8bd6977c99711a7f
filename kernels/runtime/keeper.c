/* Keeps one program: whatever it starts ends with it, and it ends with whoever started the keeper.
 *
 * keeper PARENT CPUS STEADY DIRECTORY PROGRAM [ARGUMENT...]. The program may use CPUS, such as 0-3,7 (`-`: those of the keeper, which
 * stays where it is, out of the way of what is measured), and begins in DIRECTORY. STEADY is a list of words for this program alone (`-`: none):
 * `layout`, the same layout of memory every time; `realtime`, SCHED_FIFO, which its children do not inherit;
 * `group=DIRECTORY`, a control group that it joins, and its children with it; `processes=N`, at most so many of the user. What is
 * refused ends the keeper's attempt with status 126. The keeper adopts every descendant whose parent dies (subreaper). When the
 * program ends, or SIGTERM comes, or the parent (process PARENT) dies, all descendants that are left are killed and
 * reaped. It then says on its report, in one line, how the program ended and how many it left behind:
 * `exit=0 left=0` or `signal=9 left=2`. It sleeps while the program runs.
 *
 * Whoever starts it gives it the program's descriptor 3 as standard output and the report as standard input, both open
 * for writing: those can be handed over without a fork of the starter's memory (posix_spawn), others
 * cannot, and not every C library can change the directory there.
 */
#define _GNU_SOURCE
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define PROGRAM_FD 3
#define REPORT_FD 4

/* The parent of a process by /proc/PID/stat; its command may hold blanks and brackets, so look behind the last one. */
static pid_t parent_of(const char *pid)
{
	char path[64], text[512];
	snprintf(path, sizeof path, "/proc/%.20s/stat", pid);
	FILE *file = fopen(path, "re");
	if (file == NULL)
		return -1;
	size_t length = fread(text, 1, sizeof text - 1, file);
	fclose(file);
	text[length] = '\0';
	char *after = strrchr(text, ')');
	int parent;
	char state;
	if (after == NULL || sscanf(after + 1, " %c %d", &state, &parent) != 2 || state == 'Z')
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
	struct dirent *entry;
	if (proc == NULL) {
		if (!main_ended)
			kill(main_pid, SIGKILL); /* the only one whose number we know */
		return;
	}
	while ((entry = readdir(proc)) != NULL)
		if (isdigit((unsigned char)entry->d_name[0]) && parent_of(entry->d_name) == getpid())
			kill(atoi(entry->d_name), SIGKILL);
	closedir(proc);
}

/* Kills our process group at one stroke, in which whoever forks without end cannot be ahead of us; for that we leave it. Those who
 * have left it too are found one by one. */
static void kill_group(void)
{
	pid_t group = getpgrp();
	if (group == getpid() && setpgid(0, getpgid(getppid())) == 0)
		kill(-group, SIGKILL);
}

/* Until nobody is left; how many had to be killed, the main program apart, whose status is kept if it is among them.
 * Those who are dead already are reaped first: nearly always that is all, and no walk through /proc is needed. */
static int kill_all(pid_t main_pid, int *main_ended, int *status)
{
	int left = 0, s, how = WNOHANG;
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
		if (pid == 0 && how == WNOHANG) {
			kill_group();
			how = 0;
		}
		if (how == 0)
			kill_children(main_pid, *main_ended);
	}
}

/* Lets the process use the CPUs of a list such as 0-3,7. Returns 0, or -1 with errno. */
static int use_cpus(const char *list)
{
	enum { MOST = 1 << 16 };
	size_t size = CPU_ALLOC_SIZE(MOST);
	cpu_set_t *set = CPU_ALLOC(MOST);
	if (set == NULL)
		return -1;
	CPU_ZERO_S(size, set);
	while (*list != '\0') {
		char *end;
		long first = strtol(list, &end, 10), last = first;
		if (*end == '-')
			last = strtol(end + 1, &end, 10);
		if (end == list || first < 0 || last < first || last >= MOST || (*end != ',' && *end != '\0')) {
			errno = EINVAL;
			return -1;
		}
		for (long cpu = first; cpu <= last; cpu++)
			CPU_SET_S((size_t)cpu, size, set);
		list = *end == ',' ? end + 1 : end;
	}
	int result = sched_setaffinity(0, size, set);
	CPU_FREE(set);
	return result;
}

static void refused(const char *what)
{
	dprintf(2, "cannot %s: %s\n", what, strerror(errno));
	_exit(126);
}

/* Moves this process into a control group; its memory is charged there from now on. */
static void join(const char *group)
{
	char path[PATH_MAX];
	int length = snprintf(path, sizeof path, "%s/cgroup.procs", group);
	if (length < 0 || (size_t)length >= sizeof path) {
		errno = ENAMETOOLONG;
		refused("join a control group");
	}
	int file = open(path, O_WRONLY | O_CLOEXEC);
	if (file < 0 || write(file, "0", 1) != 1) /* 0 is whoever writes */
		refused("join a control group");
	close(file);
}

/* Does to this process what the words say. */
static void steady(char *words)
{
	const struct sched_param lowest = {.sched_priority = 1};
	for (char *word = strtok(words, ","); word != NULL; word = strtok(NULL, ",")) {
		if (strcmp(word, "layout") == 0) {
			int now = personality(0xffffffff);
			if (now == -1 || personality((unsigned long)now | ADDR_NO_RANDOMIZE) == -1)
				refused("fix the layout of memory");
		} else if (strcmp(word, "realtime") == 0) {
			if (sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &lowest) != 0)
				refused("use SCHED_FIFO");
		} else if (strncmp(word, "group=", 6) == 0) {
			join(word + 6);
		} else if (strncmp(word, "processes=", 10) == 0) {
			struct rlimit most;
			const rlim_t wanted = strtoul(word + 10, NULL, 10);
			/* the user may be held to fewer already */
			if (getrlimit(RLIMIT_NPROC, &most) != 0)
				refused("read the limit on processes");
			if (most.rlim_max == RLIM_INFINITY || most.rlim_max > wanted)
				most.rlim_max = wanted;
			most.rlim_cur = most.rlim_max;
			if (setrlimit(RLIMIT_NPROC, &most) != 0)
				refused("limit the number of processes");
		} else if (strcmp(word, "-") != 0) {
			errno = EINVAL;
			refused(word);
		}
	}
}

static pid_t start(const char *cpus, char *words, const char *directory, char **argv, const sigset_t *signals)
{
	pid_t keeper = getpid();
	pid_t pid = fork();
	if (pid != 0)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != keeper)
		_exit(126); /* the keeper was killed before we were tied to it */
	if (strcmp(cpus, "-") != 0 && use_cpus(cpus) != 0) {
		dprintf(2, "cannot use the CPUs %s: %s\n", cpus, strerror(errno));
		_exit(126);
	}
	steady(words);
	if (chdir(directory) != 0)
		refused("begin in its directory");
	sigprocmask(SIG_UNBLOCK, signals, NULL);
	close(REPORT_FD);
	/* whoever wrote the program a moment ago may have forked with it open: busy until that child executes something */
	for (int i = 0; i < 1000; i++) {
		execv(argv[0], argv);
		if (errno != ETXTBSY)
			break;
		usleep(1000);
	}
	dprintf(2, "cannot execute %s: %s\n", argv[0], strerror(errno));
	_exit(127);
}

/* Waits for the end of the program, or for the order to stop. */
static void keep(pid_t pid, const sigset_t *signals, int *ended, int *status)
{
	int s;
	pid_t dead;
	while (!*ended) {
		int signal = sigwaitinfo(signals, NULL);
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
	sigset_t signals;
	int status = 0, ended = 0;
	if (argc < 6) {
		fprintf(stderr, "usage: keeper PARENT CPUS STEADY DIRECTORY PROGRAM [ARGUMENT...]\n");
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
	pid_t pid = start(argv[2], argv[3], argv[4], argv + 5, &signals);
	if (pid < 0) {
		dprintf(REPORT_FD, "fork=%d\n", errno);
		return 1;
	}
	close(PROGRAM_FD); /* the program's: its reader must see the end when the program and all of its children have gone */
	keep(pid, &signals, &ended, &status);
	int left = kill_all(pid, &ended, &status);
	if (WIFSIGNALED(status))
		dprintf(REPORT_FD, "signal=%d left=%d\n", WTERMSIG(status), left);
	else
		dprintf(REPORT_FD, "exit=%d left=%d\n", WEXITSTATUS(status), left);
	return 0;
}
