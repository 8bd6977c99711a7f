/* Whether so many users can be had here: terminals, descriptors, processes, memory and disk, asked for before the first logs in. */
#ifndef GRITSTONE_MULTIUSER_LIMITS_H
#define GRITSTONE_MULTIUSER_LIMITS_H

#include <sys/resource.h>
#include <sys/statvfs.h>

#include "users.h"

/* Processes of a user at most: shell, driver of the compiler, a compiler, an assembler or a linker in its two parts. */
enum { PROCESSES = 6, SPARE = 64 };

/* The number behind a word of a file of /proc, or at its beginning; otherwise what is given. */
static inline uint64_t number_in(const char *path, const char *word, uint64_t otherwise)
{
	char text[4096];
	int file = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = file < 0 ? -1 : read(file, text, sizeof text - 1);
	if (file >= 0)
		close(file);
	text[n > 0 ? n : 0] = '\0';
	const char *at = n > 0 ? strstr(text, word) : NULL;
	return at == NULL ? otherwise : strtoull(at + strlen(word), NULL, 10);
}

static inline uint64_t free_memory_kb(void)
{
	return number_in("/proc/meminfo", "MemAvailable:", UINT64_MAX);
}

/* Raises a limit as far as it may be; whether it suffices. */
static inline int may_have(int what, uint64_t wanted)
{
	struct rlimit limit;
	if (getrlimit(what, &limit) != 0)
		return 1;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(what, &limit);
	return limit.rlim_max == RLIM_INFINITY || limit.rlim_max >= wanted;
}

/* Why so many users cannot be had here, those included that there are already, and what mends it; NULL where they can. */
static inline const char *no_room_for(uint64_t users)
{
	static char why[256];
	typedef unsigned long long number;
	uint64_t most = number_in("/proc/sys/kernel/pty/max", "", UINT64_MAX), used = number_in("/proc/sys/kernel/pty/nr", "", 0);
	/* only the first mount of devpts has those that are kept back, and nobody can see which one this is; the last of them is never given out */
	uint64_t kept = number_in("/proc/sys/kernel/pty/reserve", "", 0) + 1, left = most > used + kept ? most - used - kept : 0;
	uint64_t more = users - (uint64_t)people; /* what these take is used already */
	uint64_t processes = users * PROCESSES + SPARE, memory = free_memory_kb();
	struct statvfs disk;
	if (left < more)
		snprintf(why, sizeof why, "%llu users need %llu more pseudo-terminals, and %llu are left: sysctl kernel.pty.max=%llu.", (number)users,
			 (number)more, (number)left, (number)(used + more + kept));
	else if (!may_have(RLIMIT_NOFILE, users + SPARE))
		snprintf(why, sizeof why, "%llu users need as many open files: raise the hard limit (ulimit -Hn).", (number)users);
	else if (geteuid() != 0 && !may_have(RLIMIT_NPROC, processes))
		snprintf(why, sizeof why, "%llu users need %llu processes: raise the limit (ulimit -u).", (number)users, (number)processes);
	else if (number_in("/proc/sys/kernel/pid_max", "", UINT64_MAX) < processes)
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
