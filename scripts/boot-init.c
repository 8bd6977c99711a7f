/* boot-init: the first and only other program of the machines that scripts/boot starts.
 *
 * The kernel starts it as /init, beside /gritstone, in a root of nothing else, with the arguments of `gritstone run`. It measures
 * there and writes the brief; then it mounts what every usual machine has (/proc, /sys, /dev, /tmp), and does the same again,
 * with the doctor. Where the kernel has control groups of version 2, it holds a benchmark to little memory, on the disk of this machine;
 * kills such a run, and looks that nothing is left of it. Last it sets the clock forward and back during a run. What is said goes to the
 * console, results as JSON to the second serial line. Its last word is `boot: passed` or why not; then it turns the machine off.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/random.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ARGUMENTS 64 /* the kernel hands over at most 32 */
#define GROUPS "/sys/fs/cgroup"
#define DISK "/dev/nvme0n1"
#define DAY 86400

static int results; /* the second serial line */
static char *nothing[] = {NULL}, *with_home[] = {"HOME=/home", NULL}, **environment = nothing;

static void turn_off(void)
{
	sync();
	reboot(RB_POWER_OFF);
	reboot(RB_AUTOBOOT); /* a kernel that cannot turn this machine off: the emulator ends when it restarts */
	for (;;)
		pause();
}

static void fail(const char *stage, const char *what, const char *why)
{
	printf("boot: failed: %s: %s: %s\n", stage, what, why);
	turn_off();
}

/* Starts /gritstone with these arguments; its standard output goes to the console, or to the results. */
static pid_t start(const char *stage, char *const arguments[], int to_results)
{
	pid_t child = fork();
	if (child < 0)
		fail(stage, "fork", strerror(errno));
	if (child == 0) {
		if (to_results && dup2(results, 1) < 0)
			_exit(127);
		execve("/gritstone", arguments, environment);
		_exit(127);
	}
	return child;
}

/* Waits for its end, and returns its status. Whatever it leaves behind is adopted here, and reaped. */
static int end_of(const char *stage, pid_t child)
{
	int status;
	for (pid_t pid; (pid = waitpid(-1, &status, 0)) != child;)
		if (pid < 0)
			fail(stage, "waitpid", strerror(errno));
	return status;
}

static int gritstone(const char *stage, char *const arguments[], int to_results)
{
	int status = end_of(stage, start(stage, arguments, to_results));
	if (WIFSIGNALED(status))
		fail(stage, arguments[1], strsignal(WTERMSIG(status)));
	printf("boot: %s: %s: exit %d\n", stage, arguments[1], WEXITSTATUS(status));
	return WEXITSTATUS(status);
}

static void must(const char *stage, char *const arguments[], int to_results, int most)
{
	if (gritstone(stage, arguments, to_results) > most)
		fail(stage, arguments[1], "see the lines above");
}

/* What was written is there, begins as it must, and is taken away again. */
static void written(const char *stage, const char *path, const char *begins)
{
	char head[16] = "";
	struct stat file;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &file) != 0 || read(fd, head, strlen(begins)) < 0 || strcmp(head, begins) != 0)
		fail(stage, path, "not written as it should be");
	close(fd);
	printf("boot: %s: %s of %lld bytes\n", stage, path, (long long)file.st_size);
	if (unlink(path) != 0)
		fail(stage, path, strerror(errno));
}

static void measure(char *stage, int argc, char **argv)
{
	char *run[ARGUMENTS + 5] = {"/gritstone", "run", "--store", "/runs.db"};
	char *show[] = {"/gritstone", "show", "--store", "/runs.db", "--format", "json", NULL};
	char *brief[] = {"/gritstone", "report", "--store", "/runs.db", "--output", "/brief.html", "--output", "/brief.pdf", NULL};
	if (argc > ARGUMENTS)
		fail(stage, "init", "too many arguments");
	for (int i = 1; i < argc; i++)
		run[3 + i] = argv[i];
	must(stage, run, 0, 0);
	must(stage, show, 1, 0);
	must(stage, brief, 0, 0);
	written(stage, "/brief.html", "<!DOCTYPE html");
	written(stage, "/brief.pdf", "%PDF-");
	written(stage, "/runs.db", "SQLite format 3");
}

/* What every init does: the kernel is handed a seed. Nothing else happens in this machine, and a kernel before 5.6 would have no
 * random numbers for as long as it ran. Before 4.8 a seed goes to a pool that passes it on bit by bit. */
static void seed(void)
{
	enum { BYTES = 64 };
	/* a struct rand_pool_info: bits of entropy, bytes, and as many bytes */
	const int pool[2 + BYTES / sizeof(int)] = {8 * BYTES, BYTES};
	int random = mknod("/random", S_IFCHR | 0600, makedev(1, 8)) == 0 ? open("/random", O_RDWR | O_CLOEXEC) : -1;
	for (int i = 0; i < 64; i++) {
		if (random < 0 || ioctl(random, RNDADDENTROPY, pool) != 0)
			fail("init", "a seed", strerror(errno));
		usleep(1000);
	}
	unlink("/random");
	close(random);
}

static void mounted(const char *type, const char *where)
{
	if ((mkdir(where, 0755) != 0 && errno != EEXIST) || mount("none", where, type, 0, NULL) != 0)
		fail("mount", where, strerror(errno));
}

/* How many entries of a directory have a name of ours; 0 where it is not there. */
static int ours(const char *where)
{
	int count = 0;
	DIR *directory = opendir(where);
	for (struct dirent *entry; directory != NULL && (entry = readdir(directory)) != NULL;)
		count += strncmp(entry->d_name, "gritstone.", 10) == 0;
	if (directory != NULL)
		closedir(directory);
	return count;
}

static void no_more_of_us(const char *stage, const char *where)
{
	if (ours(where) != 0)
		fail(stage, where, "something of a dead run is left");
}

/* Control groups of version 2 with all controllers that are used, and the disk; 0 where the kernel has none. */
static int control_groups(void)
{
	mkdir(GROUPS, 0755);
	if (mount("none", GROUPS, "cgroup2", 0, NULL) != 0)
		return 0;
	int file = open(GROUPS "/cgroup.subtree_control", O_WRONLY | O_CLOEXEC);
	const char wanted[] = "+memory +pids +cpu";
	if (file < 0 || write(file, wanted, strlen(wanted)) < 0)
		fail("groups", "cgroup.subtree_control", strerror(errno));
	close(file);
	mkdir("/var", 0755);
	mkdir("/var/tmp", 0755);
	mkdir("/home", 0755);
	if (mount(DISK, "/var/tmp", "ext4", 0, NULL) != 0)
		fail("groups", DISK, strerror(errno));
	return 1;
}

/* Less memory than is touched; then the same, killed when its group is there. */
static void limit_memory(void)
{
	char *run[] = {"/gritstone", "run", "vm/paging/random@file", "--budget", "90s", "--precision", "50%", "--store", "/runs.db", NULL};
	char *show[] = {"/gritstone", "show", "--store", "/runs.db", "--format", "json", NULL};
	char *doctor[] = {"/gritstone", "doctor", NULL};
	must("groups", run, 0, 0);
	must("groups", show, 1, 0);
	no_more_of_us("groups", GROUPS);
	pid_t child = start("undo", run, 0);
	for (int i = 0; ours(GROUPS) == 0; i++) {
		if (i == 600)
			fail("undo", GROUPS, "no group was made");
		usleep(100000);
	}
	sleep(2);
	kill(child, SIGKILL);
	if (!WIFSIGNALED(end_of("undo", child)))
		fail("undo", "run", "it ended before it was killed");
	sleep(5); /* until the watchdog has ended what it can */
	must("undo", doctor, 0, 1);
	no_more_of_us("undo", GROUPS);
	no_more_of_us("undo", "/var/tmp");
	no_more_of_us("undo", "/tmp");
	printf("boot: control groups of version 2: limits, paging, undo\n");
}

static void move_clock(long seconds)
{
	struct timespec now;
	clock_gettime(CLOCK_REALTIME, &now);
	now.tv_sec += seconds;
	if (clock_settime(CLOCK_REALTIME, &now) != 0)
		fail("clock", "clock_settime", strerror(errno));
	sleep(3);
}

/* A day forward, two back, one forward, during a run. */
static void set_clock(void)
{
	char *run[] = {"/gritstone", "run", "byte/loop", "--budget", "40s", "--precision", "0.01%", "--store", "/clock.db", NULL};
	char *show[] = {"/gritstone", "show", "--store", "/clock.db", "--format", "json", NULL};
	pid_t child = start("clock", run, 0);
	sleep(10);
	move_clock(DAY);
	move_clock(-2 * DAY);
	move_clock(DAY);
	int status = end_of("clock", child);
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
		fail("clock", "run", "see the lines above");
	must("clock", show, 1, 0);
	printf("boot: the clock was set\n");
}

int main(int argc, char **argv)
{
	char *list[] = {"/gritstone", "list", "byte/*", NULL};
	char *doctor[] = {"/gritstone", "doctor", NULL};
	struct utsname system;
	setvbuf(stdout, NULL, _IOLBF, 0);
	uname(&system);
	printf("boot: kernel %s\n", system.release);
	if (mknod("/results", S_IFCHR | 0600, makedev(4, 65)) != 0 ||
	    (results = open("/results", O_WRONLY | O_NOCTTY | O_CLOEXEC)) < 0 || unlink("/results") != 0)
		fail("init", "the second serial line", strerror(errno));
	seed();
	measure("bare", argc, argv);
	mounted("proc", "/proc");
	mounted("sysfs", "/sys");
	mounted("devtmpfs", "/dev");
	mounted("tmpfs", "/tmp");
	must("mounted", list, 0, 0);
	must("mounted", doctor, 0, 1); /* 1: this machine is not fit to be measured, which is true */
	measure("mounted", argc, argv);
	environment = with_home;
	if (control_groups())
		limit_memory();
	set_clock();
	printf("boot: passed\n");
	turn_off();
}
