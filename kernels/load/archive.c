/* Load that archives files by tar continuously: level 3 of the loads of hp-1987, section 5. There the archive was a tape; here it is a file
 * in the directory of the measured files, rewritten each time.
 *
 * archive tar=PATH. It first creates 64 files of 256 KB. */
#define _GNU_SOURCE
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "load_program.h"

#define FILES 64
#define BYTES (256 << 10)

static void make_files(void)
{
	static char bytes[BYTES];
	uint64_t x = 88172645463325252u; /* xorshift: incompressible */
	if (mkdir("files", 0700) != 0)
		exit_with(FAILED, "cannot create the directory files: %s", strerror(errno));
	for (int i = 0; i < FILES; i++) {
		char path[32];
		for (size_t k = 0; k < sizeof bytes; k += sizeof x) {
			x ^= x << 13;
			x ^= x >> 7;
			x ^= x << 17;
			memcpy(bytes + k, &x, sizeof x);
		}
		snprintf(path, sizeof path, "files/%d", i);
		int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
		if (file < 0 || write(file, bytes, sizeof bytes) != (ssize_t)sizeof bytes)
			exit_with(SKIPPED, "cannot write %s: %s; choose another directory with --dir", path, strerror(errno));
		close(file);
	}
}

static void archive(const char *tar)
{
	struct stat archive_stat;
	int status;
	pid_t parent = getpid(), pid = fork();
	if (pid < 0)
		exit_with(FAILED, "fork: %s", strerror(errno));
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() == parent)
			execl(tar, "tar", "-cf", "archive", "files", (char *)NULL);
		_exit(127);
	}
	if (waitpid(pid, &status, 0) != pid || status != 0)
		exit_with(FAILED, "%s ended with wait status %d", tar, status);
	if (stat("archive", &archive_stat) != 0 || archive_stat.st_size < (off_t)FILES * BYTES)
		exit_with(FAILED, "%s did not archive all files", tar);
}

int main(int argc, char **argv)
{
	const char *tar = argument(argc, argv, "tar", "/bin/tar");
	make_files();
	for (uint64_t done = 1;; done++) {
		archive(tar);
		report_progress(done, "archives of 16 MB");
	}
}
