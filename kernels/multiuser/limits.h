/* Resource check before the first login: pseudo-terminals, descriptors, processes, memory and disk for all users. */
#ifndef GRITSTONE_MULTIUSER_LIMITS_H
#define GRITSTONE_MULTIUSER_LIMITS_H

#include <sys/resource.h>
#include <sys/statvfs.h>

#include "users.h"

/* Maximum per user: shell, compiler driver, compiler, assembler or linker with its helper. */
enum { PROCESSES_PER_USER = 6, MARGIN = 64 };

/* The number after a keyword in a file of /proc. */
static inline uint64_t read_number(const char *path, const char *word, uint64_t otherwise)
{
	char text[4096];
	int file = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = file < 0 ? -1 : read(file, text, sizeof text - 1);
	if (file >= 0)
		close(file);
	text[n > 0 ? n : 0] = '\0';
	const char *match = n > 0 ? strstr(text, word) : NULL;
	return match == NULL ? otherwise : strtoull(match + strlen(word), NULL, 10);
}

static inline uint64_t free_memory_kb(void)
{
	return read_number("/proc/meminfo", "MemAvailable:", UINT64_MAX);
}

/* Raises a soft limit to its hard limit. Returns whether it suffices. */
static inline int raise_limit(int what, uint64_t required)
{
	struct rlimit limit;
	if (getrlimit(what, &limit) != 0)
		return 1;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(what, &limit);
	return limit.rlim_max == RLIM_INFINITY || limit.rlim_max >= required;
}

/* The first insufficient resource for a total number of users, with its remedy; NULL if there are enough. */
static inline const char *missing_resource(uint64_t users)
{
	static char why[256];
	typedef unsigned long long number;
	uint64_t max = read_number("/proc/sys/kernel/pty/max", "", UINT64_MAX), used = read_number("/proc/sys/kernel/pty/nr", "", 0);
	/* the reserve exists only in the first devpts mount, which cannot be identified; the last pty is never handed out */
	uint64_t reserved = read_number("/proc/sys/kernel/pty/reserve", "", 0) + 1, left = max > used + reserved ? max - used - reserved : 0;
	uint64_t more = users - (uint64_t)logged_in; /* users already logged in have theirs */
	uint64_t processes = users * PROCESSES_PER_USER + MARGIN, memory = free_memory_kb();
	struct statvfs disk;
	if (left < more)
		snprintf(why, sizeof why, "%llu users need %llu more pseudo-terminals, and %llu are left: sysctl kernel.pty.max=%llu.", (number)users,
			 (number)more, (number)left, (number)(used + more + reserved));
	else if (!raise_limit(RLIMIT_NOFILE, users + MARGIN))
		snprintf(why, sizeof why, "%llu users need as many open files: raise the hard limit (ulimit -Hn).", (number)users);
	else if (geteuid() != 0 && !raise_limit(RLIMIT_NPROC, processes))
		snprintf(why, sizeof why, "%llu users need %llu processes: raise the limit (ulimit -u).", (number)users, (number)processes);
	else if (read_number("/proc/sys/kernel/pid_max", "", UINT64_MAX) < processes)
		snprintf(why, sizeof why, "%llu users need %llu process numbers: raise kernel.pid_max.", (number)users, (number)processes);
	else if (memory / script.memory_kb < more)
		snprintf(why, sizeof why, "%llu more users take up to %llu MB of memory, and %llu MB are available.", (number)more,
			 (number)(more * script.memory_kb >> 10), (number)(memory >> 10));
	else if (statvfs(".", &disk) == 0 && (uint64_t)disk.f_bavail * disk.f_frsize / 1024 / script.disk_kb < more)
		snprintf(why, sizeof why, "%llu more users take %llu MB of disk, more than are free: choose another directory with --dir.", (number)more,
			 (number)(more * script.disk_kb >> 10));
	else
		return NULL;
	return why;
}

#endif
