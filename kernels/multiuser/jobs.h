/* Background load: processes that compute, compile, write, or page. */
#ifndef GRITSTONE_MULTIUSER_JOBS_H
#define GRITSTONE_MULTIUSER_JOBS_H

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../runtime/kernel.h"

enum { MAX_JOBS = 256, PIECE = 1 << 20, PAGED = 32 << 20, PAGE = 4096 };

extern char **environ;

static pid_t job[MAX_JOBS];
/* Units of work per job; in shared memory. */
static volatile uint64_t *work_done;

static inline void compute(void)
{
	uint64_t x = 1;
	for (int i = 0; i < 1000000; i++) {
		x = x * 6364136223846793005u + 1442695040888963407u;
		OPAQUE(x);
	}
}

static inline void compile_file(const char *cc, int number)
{
	char object[32];
	pid_t pid;
	int status;
	snprintf(object, sizeof object, "job-%d.o", number);
	char *const argv[] = {(char *)cc, "-O2", "-c", "-o", object, "job.c", NULL};
	if (posix_spawnp(&pid, cc, NULL, NULL, argv, environ) != 0 || waitpid(pid, &status, 0) != pid || status != 0 || unlink(object) != 0)
		_exit(1);
}

static inline void write_and_sync(int file)
{
	static char bytes[PIECE];
	if (pwrite(file, bytes, sizeof bytes, 0) != sizeof bytes || fdatasync(file) != 0)
		_exit(1);
}

/* Faults in all pages of a file just dropped from the page cache. */
static inline void page_in(int file)
{
	uint64_t sum = 0;
	if (posix_fadvise(file, 0, PAGED, POSIX_FADV_DONTNEED) != 0)
		_exit(1);
	volatile const char *bytes = mmap(NULL, PAGED, PROT_READ, MAP_SHARED, file, 0);
	if (bytes == MAP_FAILED)
		_exit(1);
	for (size_t i = 0; i < PAGED; i += PAGE)
		sum += (unsigned char)bytes[i];
	OPAQUE(sum);
	munmap((void *)(uintptr_t)bytes, PAGED);
}

static inline _Noreturn void run_job(int number, const char *kind, const char *cc)
{
	char name[32];
	snprintf(name, sizeof name, "job-%d", number);
	int file = -1;
	if (strcmp(kind, "write") == 0 || strcmp(kind, "page") == 0)
		file = open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (strcmp(kind, "page") == 0)
		for (int i = 0; i < PAGED / PIECE; i++) {
			static const char bytes[PIECE] = "page";
			if (pwrite(file, bytes, sizeof bytes, (off_t)i * PIECE) != sizeof bytes)
				_exit(1);
		}
	if (file >= 0)
		fdatasync(file);
	for (;; work_done[number]++) {
		if (strcmp(kind, "compute") == 0)
			compute();
		else if (strcmp(kind, "compile") == 0)
			compile_file(cc, number);
		else if (strcmp(kind, "write") == 0)
			write_and_sync(file);
		else
			page_in(file);
	}
}

/* Returns when each job has completed a unit of work. */
static inline void start_jobs(struct context *c, const char *kind, int jobs, const char *cc)
{
	static const char *const kinds[] = {"none", "compute", "compile", "write", "page"};
	size_t kind_index = 0;
	while (kind_index < sizeof kinds / sizeof *kinds && strcmp(kind, kinds[kind_index]) != 0)
		kind_index++;
	if (kind_index == sizeof kinds / sizeof *kinds || (kind_index == 0) != (jobs == 0))
		wrong_arguments(c, "beside=%s is not none, compute, compile, write or page, or jobs= does not match", kind);
	int source = open("job.c", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	for (int f = 0; f < 200; f++)
		dprintf(source, "int f%d(int x)\n{\n\tfor (int i = 0; i < 100; i++)\n\t\tx = x * %d + i;\n\treturn x;\n}\n", f, f);
	close(source);
	work_done = mmap(NULL, MAX_JOBS * sizeof *work_done, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (work_done == MAP_FAILED)
		failed(c, "mmap");
	for (int i = 0; work_done != MAP_FAILED && i < jobs; i++) {
		job[i] = fork_peer(c);
		if (job[i] < 0) {
			failed(c, "fork");
			return;
		}
		if (job[i] == 0)
			run_job(i, kind, cc);
	}
	for (int i = 0; work_done != MAP_FAILED && i < jobs; i++)
		while (work_done[i] == 0) {
			usleep(10000);
			if (waitpid(-1, NULL, WNOHANG) > 0) {
				failed_because(c, "job", "a background process (%s) has exited: is the disk full?", kind);
				return;
			}
		}
}

#endif
