/* A block device that the user has named: it is opened for writing only when nobody uses it and the user has said twice that what
 * is on it may be lost. The system itself knows best who uses a device or one of its partitions (O_EXCL); the tables of mounts and
 * of swap are read to be able to say who. */
#ifndef GRITSTONE_DISK_DEVICE_H
#define GRITSTONE_DISK_DEVICE_H

#include <linux/fs.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/sysmacros.h>

#include "../fs/files.h"

/* Whether a device is `wanted`, a partition of it, or the disk of which it is a partition. */
static int is_part_of(dev_t device, dev_t wanted)
{
	char path[64];
	unsigned major, minor;
	for (int turned = 0; turned < 2; turned++) {
		dev_t part = turned ? wanted : device, whole = turned ? device : wanted;
		if (part == whole)
			return 1;
		snprintf(path, sizeof path, "/sys/dev/block/%u:%u/../dev", major(part), minor(part));
		FILE *file = fopen(path, "re");
		int read = file != NULL && fscanf(file, "%u:%u", &major, &minor) == 2;
		if (file != NULL)
			fclose(file);
		if (read && makedev(major, minor) == whole)
			return 1;
	}
	return 0;
}

/* Where it, or a part of it, is mounted or swapped to; empty when these tables do not know. */
static void find_use(dev_t wanted, char *use, size_t size)
{
	static const char *const tables[] = {"/proc/self/mountinfo", "/proc/swaps"};
	char line[4096], where[1024];
	struct stat status;
	*use = '\0';
	for (int swap = 0; swap < 2; swap++) {
		FILE *table = fopen(tables[swap], "re");
		while (table != NULL && *use == '\0' && fgets(line, sizeof line, table) != NULL) {
			unsigned major, minor;
			if (!swap && sscanf(line, "%*d %*d %u:%u %*s %1023s", &major, &minor, where) == 3 &&
				is_part_of(makedev(major, minor), wanted))
				snprintf(use, size, "it, or a part of it, is mounted on %s", where);
			if (swap && sscanf(line, "%1023s", where) == 1 && stat(where, &status) == 0 && S_ISBLK(status.st_mode) &&
				is_part_of(status.st_rdev, wanted))
				snprintf(use, size, "the system swaps to %s", where);
		}
		if (table != NULL)
			fclose(table);
	}
}

/* Opens it past the cache and for us alone, with further flags of open; -1 when that is refused, which has been told. */
static inline int open_device(struct context *c, const char *name, uint64_t bytes, int flags)
{
	struct stat status;
	char use[1200];
	uint64_t size = 0;
	if (stat(name, &status) != 0) {
		failed_because(c, "device", "%s: %s; `lsblk` lists the devices that are here", name, strerror(errno));
		return -1;
	}
	if (!S_ISBLK(status.st_mode)) {
		failed_because(c, "device", "%s is no block device; `lsblk` lists those that are here", name);
		return -1;
	}
	find_use(status.st_rdev, use, sizeof use);
	if (*use != '\0') {
		failed_because(c, "device", "%s is in use: %s; nothing was written: name another one", name, use);
		return -1;
	}
	if (strcmp(parameter(c, "overwrite", "none"), name) != 0) {
		failed_because(c, "device",
			       "the first %u KB of %s would be overwritten, and what is there would be lost; if you mean that, add --param overwrite=%s",
			       (unsigned)(bytes / 1024), name, name);
		return -1;
	}
	int file = open(name, O_RDWR | O_DIRECT | O_EXCL | O_CLOEXEC | flags);
	if (file < 0) {
		failed_because(c, "device", "%s cannot be had: %s; nothing was written: %s", name, strerror(errno),
			       errno == EBUSY ? "another one that no file system, swap, RAID or mapper uses will do"
					      : "it takes root, or the group of its disks");
	} else if (ioctl(file, BLKGETSIZE64, &size) != 0 || size < bytes) {
		failed_because(c, "device", "%s has %u KB, and %u are to be written: name a larger one", name,
			       (unsigned)(size / 1024), (unsigned)(bytes / 1024));
		close(file);
		return -1;
	}
	return file;
}

#endif
