/* Keeps one program: whatever it starts ends with it, and it ends with whoever started the keeper.
 *
 * keeper PARENT CPUS PROGRAM [ARGUMENT...]. The program may use CPUS, such as 0-3,7 (`-`: those of the keeper, which
 * stays where it is, out of the way of what is measured). The keeper adopts every descendant whose parent dies (subreaper). When the
 * program ends, or SIGTERM comes, or the parent (process PARENT) dies, all descendants that are left are killed and
 * reaped. It then says on descriptor 4, in one line, how the program ended and how many it left behind:
 * `exit=0 left=0` or `signal=9 left=2`. It sleeps while the program runs.
 */
#define _GNU_SOURCE
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

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
		if (pid == 0)
			how = 0;
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

static pid_t start(const char *cpus, char **argv, const sigset_t *signals)
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

int main(int argc, char **argv)
{
	sigset_t signals;
	int status = 0, ended = 0;
	if (argc < 4) {
		fprintf(stderr, "usage: keeper PARENT CPUS PROGRAM [ARGUMENT...]\n");
		return 2;
	}
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
	pid_t pid = start(argv[2], argv + 3, &signals);
	if (pid < 0) {
		dprintf(REPORT_FD, "fork=%d\n", errno);
		return 1;
	}
	close(3); /* the program's: its reader must see the end when the program and all of its children have gone */
	keep(pid, &signals, &ended, &status);
	int left = kill_all(pid, &ended, &status);
	if (WIFSIGNALED(status))
		dprintf(REPORT_FD, "signal=%d left=%d\n", WTERMSIG(status), left);
	else
		dprintf(REPORT_FD, "exit=%d left=%d\n", WEXITSTATUS(status), left);
	return 0;
}
