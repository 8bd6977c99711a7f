/* Keeps one program: whatever it starts ends with it, and it ends with whoever started the keeper.
 *
 * keeper PARENT CPUS STEADY DIRECTORY PROGRAM [ARGUMENT...]. The program may use CPUS, such as 0-3,7 (`-`: those of the keeper, which
 * stays where it is, out of the way of what is measured), and begins in DIRECTORY. STEADY is a list of words, one a line, for this program alone (`-`: none):
 * `layout`, the same layout of memory every time; `realtime`, SCHED_FIFO, which its children do not inherit;
 * `group=DIRECTORY`, a control group that it joins, and its children with it; `processes=N`, at most so many of the user. What is
 * refused ends the keeper's attempt with status 126. The keeper adopts every descendant whose parent dies (subreaper). When the
 * program ends, or SIGTERM comes, or the parent (process PARENT) dies, all descendants that are left are killed and
 * reaped. It then says on its report, in one line, how the program ended and how many it left behind:
 * `exit=0 left=0` or `signal=9 left=2`. It sleeps while the program runs.
 *
 * It calls no function of a C library: see system.h. What the system refuses is told by the number of the error, which whoever
 * reads it knows the words for.
 *
 * Whoever starts it gives it the program's descriptor 3 as standard output and the report as standard input, both open
 * for writing: those can be handed over without a fork of the starter's memory (posix_spawn), others
 * cannot, and not every C library can change the directory there.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "system.h"

#define PROGRAM_FD 3
#define REPORT_FD 4

/* A set of signals as the kernel has it. */
#define SIGNAL(number) ((uint64_t)1 << ((number) - 1))
static const uint64_t signals = SIGNAL(SIGCHLD) | SIGNAL(SIGTERM) | SIGNAL(SIGINT) | SIGNAL(SIGHUP);

/* An entry of a directory, as getdents64(2) gives it. */
struct entry {
	uint64_t inode;
	int64_t offset;
	uint16_t length;
	uint8_t type;
	char name[];
};

static long open_file(const char *path, long flags)
{
	return system_call(__NR_openat, AT_FDCWD, (long)path, flags | O_CLOEXEC, 0);
}

static void close_file(long file)
{
	system_call(__NR_close, file, 0, 0, 0);
}

static long wait_for_any(int *status, long how)
{
	return system_call(__NR_wait4, -1, (long)status, how, 0);
}

static void end_process(long pid)
{
	system_call(__NR_kill, pid, SIGKILL, 0, 0);
}

static long own_pid(void)
{
	return system_call(__NR_getpid, 0, 0, 0, 0);
}

/* The parent of a process by /proc/PID/stat; its command may hold blanks and brackets, so look behind the last one. -1 where it has
 * gone, or is dead and only waits to be reaped. */
static long parent_of(const char *pid)
{
	struct line path;
	path.length = 0;
	char text[512];
	put(&path, "/proc/");
	put(&path, pid);
	put(&path, "/stat");
	path.text[path.length] = '\0';
	long file = open_file(path.text, O_RDONLY);
	if (file < 0)
		return -1;
	long length = system_call(__NR_read, file, (long)text, sizeof text - 1, 0);
	close_file(file);
	if (length <= 0)
		return -1;
	text[length] = '\0';
	const char *after = NULL;
	for (const char *at = text; *at != '\0'; at++)
		if (*at == ')')
			after = at;
	/* ") S 1" */
	if (after == NULL || after + 4 >= text + length || after[2] == 'Z')
		return -1;
	after += 4;
	return take_number(&after);
}

/* Whether /proc counts processes as we do: in a PID namespace without a /proc of its own, the numbers there are other
 * processes' here, and not to be killed. */
static int proc_is_ours(void)
{
	char self[32];
	long length = system_call(__NR_readlinkat, AT_FDCWD, (long)"/proc/self", (long)self, sizeof self - 1);
	if (length < 0)
		return 0;
	self[length] = '\0';
	const char *number = self;
	return take_number(&number) == own_pid();
}

/* Kills the children that are there now. Theirs come to us when they die, and get their turn. */
static void kill_children(long main_pid, int main_ended)
{
	static union {
		struct entry first;
		char bytes[32768];
	} entries;
	long length, proc = proc_is_ours() ? open_file("/proc", O_RDONLY | O_DIRECTORY) : -1;
	if (proc < 0) {
		if (!main_ended)
			end_process(main_pid); /* the only one whose number we know */
		return;
	}
	while ((length = system_call(__NR_getdents64, proc, (long)&entries, sizeof entries, 0)) > 0) {
		const struct entry *entry;
		for (long at = 0; at < length; at += entry->length) {
			entry = (const struct entry *)(const void *)(entries.bytes + at);
			const char *name = entry->name;
			long pid = take_number(&name);
			if (pid > 0 && parent_of(entry->name) == own_pid())
				end_process(pid);
		}
	}
	close_file(proc);
}

/* Moves us out of our process group: into that of our parent or, where that is dead and another session's init has us, into that of
 * a child that does nothing, which is returned. 0 where none was needed, an error as a negative number. */
static long leave_group(void)
{
	long parent = system_call(__NR_getppid, 0, 0, 0, 0);
	if (system_call(__NR_setpgid, 0, system_call(__NR_getpgid, parent, 0, 0, 0), 0, 0) == 0)
		return 0;
	long other = new_process();
	if (other == 0) {
		system_call(__NR_prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0);
		for (;;)
			system_call(__NR_rt_sigtimedwait, (long)&signals, 0, 0, sizeof signals);
	}
	if (other > 0) {
		system_call(__NR_setpgid, other, other, 0, 0);
		system_call(__NR_setpgid, 0, other, 0, 0);
	}
	return other;
}

/* Kills our process group at one stroke, in which whoever forks without end cannot be ahead of us; for that we leave it. Whether that
 * was possible: it may not be while the user has as many processes as he may. Those who have left it too are found one by one. */
static int kill_group(void)
{
	int status;
	if (system_call(__NR_getpgid, 0, 0, 0, 0) != own_pid())
		return 1;
	long other = leave_group();
	int left = system_call(__NR_getpgid, 0, 0, 0, 0) != own_pid();
	if (left)
		end_process(-own_pid());
	if (other > 0) {
		end_process(other);
		system_call(__NR_wait4, other, (long)&status, 0, 0);
	}
	return left;
}

/* Until nobody is left; how many had to be killed, the main program apart, whose status is kept if it is among them.
 * Those who are dead already are reaped first: nearly always that is all, and no walk through /proc is needed. */
static int kill_all(long main_pid, int *main_ended, int *status)
{
	int left = 0, group_is_dead = 0, s;
	long how = WNOHANG;
	for (;;) {
		long pid = wait_for_any(&s, how);
		if (pid == -ECHILD)
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

/* Says what could not be done, and ends. */
static _Noreturn void refused(long status, const char *what, const char *which, long error)
{
	struct line line;
	line.length = 0;
	put(&line, "cannot ");
	put(&line, what);
	put(&line, which);
	put(&line, ": errno ");
	put_number(&line, -error);
	put(&line, "\n");
	say(2, &line);
	leave(status);
}

/* Lets the process use the CPUs of a list such as 0-3,7. Returns 0, or an error as a negative number. */
static long use_cpus(const char *list)
{
	enum { MOST = 1 << 16, BITS = 8 * sizeof(unsigned long) };
	static unsigned long set[MOST / BITS];
	while (*list != '\0') {
		long first = take_number(&list), last = first;
		if (*list == '-') {
			list++;
			last = take_number(&list);
		}
		if (first < 0 || last < first || last >= MOST || (*list != ',' && *list != '\0'))
			return -EINVAL;
		for (long cpu = first; cpu <= last; cpu++)
			set[cpu / BITS] |= 1UL << cpu % BITS;
		list += *list == ',';
	}
	return system_call(__NR_sched_setaffinity, 0, sizeof set, (long)set, 0);
}

/* Moves this process into a control group; its memory is charged there from now on. */
static void join(const char *group)
{
	struct line path;
	path.length = 0;
	put(&path, group);
	put(&path, "/cgroup.procs");
	if (path.length == sizeof path.text)
		refused(126, "join a control group", "", -ENAMETOOLONG);
	path.text[path.length] = '\0';
	long file = open_file(path.text, O_WRONLY);
	long written = file < 0 ? file : system_call(__NR_write, file, (long)"0", 1, 0); /* 0 is whoever writes */
	if (written != 1)
		refused(126, "join a control group", "", written);
	close_file(file);
}

/* At most so many processes of the user. */
static void limit_processes(const char *number)
{
	struct rlimit most;
	const long wanted = take_number(&number);
	/* the user may be held to fewer already */
	long error = system_call(__NR_prlimit64, 0, RLIMIT_NPROC, 0, (long)&most);
	if (error < 0)
		refused(126, "read the limit on processes", "", error);
	if (wanted < 0)
		refused(126, "limit the number of processes", "", -EINVAL);
	if (most.rlim_max == RLIM_INFINITY || most.rlim_max > (rlim_t)wanted)
		most.rlim_max = (rlim_t)wanted;
	most.rlim_cur = most.rlim_max;
	error = system_call(__NR_prlimit64, 0, RLIMIT_NPROC, (long)&most, 0);
	if (error < 0)
		refused(126, "limit the number of processes", "", error);
}

/* Does to this process what a word says. */
static void steady(const char *word)
{
	const struct sched_param lowest = {.sched_priority = 1};
	const char *rest;
	if (is(word, "layout")) {
		long now = system_call(__NR_personality, 0xffffffff, 0, 0, 0);
		if (now >= 0)
			now = system_call(__NR_personality, now | ADDR_NO_RANDOMIZE, 0, 0, 0);
		if (now < 0)
			refused(126, "fix the layout of memory", "", now);
	} else if (is(word, "realtime")) {
		long error = system_call(__NR_sched_setscheduler, 0, SCHED_FIFO | SCHED_RESET_ON_FORK, (long)&lowest, 0);
		if (error < 0)
			refused(126, "use SCHED_FIFO", "", error);
	} else if ((rest = behind(word, "group=")) != NULL) {
		join(rest);
	} else if ((rest = behind(word, "processes=")) != NULL) {
		limit_processes(rest);
	} else if (*word != '\0' && !is(word, "-")) {
		refused(126, word, "", -EINVAL);
	}
}

/* The same with each word of a list, which is cut at the ends of lines: no control group has one in its name. */
static void steady_all(char *words)
{
	for (char *word = words, *at = words;; at++) {
		const char last = *at;
		if (last != '\n' && last != '\0')
			continue;
		*at = '\0';
		steady(word);
		if (last == '\0')
			return;
		word = at + 1;
	}
}

static long start(const char *cpus, char *words, const char *directory, char **argv, char **environment)
{
	const long keeper = own_pid();
	long error = 0, pid = new_process();
	if (pid != 0)
		return pid;
	system_call(__NR_prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0);
	if (system_call(__NR_getppid, 0, 0, 0, 0) != keeper)
		leave(126); /* the keeper was killed before we were tied to it */
	if (!is(cpus, "-") && (error = use_cpus(cpus)) < 0)
		refused(126, "use the CPUs ", cpus, error);
	steady_all(words);
	error = system_call(__NR_chdir, (long)directory, 0, 0, 0);
	if (error < 0)
		refused(126, "begin in ", directory, error);
	system_call(__NR_rt_sigprocmask, SIG_UNBLOCK, (long)&signals, 0, sizeof signals);
	close_file(REPORT_FD);
	/* whoever wrote the program a moment ago may have forked with it open: busy until that child executes something */
	for (int i = 0; i < 1000; i++) {
		const struct timespec millisecond = {.tv_nsec = 1000000};
		error = system_call(__NR_execve, (long)argv[0], (long)argv, (long)environment, 0);
		if (error != -ETXTBSY)
			break;
		system_call(__NR_nanosleep, (long)&millisecond, 0, 0, 0);
	}
	refused(127, "execute ", argv[0], error);
}

/* Waits for the end of the program, or for the order to stop. */
static void keep(long pid, int *ended, int *status)
{
	int s;
	long dead;
	while (!*ended) {
		long signal = system_call(__NR_rt_sigtimedwait, (long)&signals, 0, 0, sizeof signals);
		if (signal == SIGTERM || signal == SIGINT || signal == SIGHUP)
			return;
		while ((dead = wait_for_any(&s, WNOHANG)) > 0)
			if (dead == pid) {
				*ended = 1;
				*status = s;
			}
	}
}

static long put_descriptor(long from, long to)
{
	return system_call(__NR_dup3, from, to, 0, 0);
}

/* Puts the descriptors where the program expects them, and nothing where they came. */
static int sort_descriptors(void)
{
	if (put_descriptor(1, PROGRAM_FD) < 0 || put_descriptor(0, REPORT_FD) < 0)
		return -1;
	long nothing = open_file("/dev/null", O_RDWR);
	if (nothing < 0) /* a root without devices: an empty file in memory has nothing to read either */
		nothing = system_call(__NR_memfd_create, (long)"nothing", MFD_CLOEXEC, 0, 0);
	return nothing < 0 || put_descriptor(nothing, 0) < 0 || put_descriptor(nothing, 1) < 0 ? -1 : 0;
}

static void report(const char *what, long number, long left)
{
	struct line line;
	line.length = 0;
	put(&line, what);
	put_number(&line, number);
	if (left >= 0) {
		put(&line, " left=");
		put_number(&line, left);
	}
	put(&line, "\n");
	say(REPORT_FD, &line);
}

int main(int argc, char **argv, char **environment)
{
	int status = 0, ended = 0;
	if (argc < 6) {
		struct line usage;
		usage.length = 0;
		put(&usage, "usage: keeper PARENT CPUS STEADY DIRECTORY PROGRAM [ARGUMENT...]\n");
		say(2, &usage);
		return 2;
	}
	if (sort_descriptors() != 0)
		return 4;
	system_call(__NR_rt_sigprocmask, SIG_BLOCK, (long)&signals, 0, sizeof signals);
	system_call(__NR_prctl, PR_SET_CHILD_SUBREAPER, 1, 0, 0);
	system_call(__NR_prctl, PR_SET_PDEATHSIG, SIGTERM, 0, 0);
	const char *parent = argv[1];
	if (system_call(__NR_getppid, 0, 0, 0, 0) != take_number(&parent))
		return 3; /* the parent was gone before we were tied to it */
	long pid = start(argv[2], argv[3], argv[4], argv + 5, environment);
	if (pid < 0) {
		report("fork=", -pid, -1);
		return 1;
	}
	close_file(PROGRAM_FD); /* the program's: its reader must see the end when the program and all of its children have gone */
	keep(pid, &ended, &status);
	int left = kill_all(pid, &ended, &status);
	if (WIFSIGNALED(status))
		report("signal=", WTERMSIG(status), left);
	else
		report("exit=", WEXITSTATUS(status), left);
	return 0;
}
