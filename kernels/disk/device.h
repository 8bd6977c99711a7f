/* Guard for a block device named by the user: it is opened for writing only if it is unused and the user has confirmed the loss of its data
 * (overwrite=). O_EXCL detects uses of the device and its partitions; the tables of mounts and swap name the user in the message. */
#ifndef GRITSTONE_DISK_DEVICE_H
#define GRITSTONE_DISK_DEVICE_H

#include <linux/fs.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/sysmacros.h>

#include "../fs/files.h"

/* Whether a device is the target, a partition of it, or the disk that contains it. */
static int overlaps(dev_t device, dev_t target)
{
	char path[64];
	unsigned major, minor;
	for (int swapped = 0; swapped < 2; swapped++) {
		dev_t part = swapped ? target : device, whole = swapped ? device : target;
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

/* Mount point or swap use of the device or a partition; empty if there is none. */
static void find_use(dev_t target, char *use, size_t size)
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
				overlaps(makedev(major, minor), target))
				snprintf(use, size, "it, or a part of it, is mounted on %s", where);
			if (swap && sscanf(line, "%1023s", where) == 1 && stat(where, &status) == 0 && S_ISBLK(status.st_mode) &&
				overlaps(status.st_rdev, target))
				snprintf(use, size, "the system swaps to %s", where);
		}
		if (table != NULL)
			fclose(table);
	}
}

/* Opens the device with O_DIRECT, O_EXCL and `flags`. Returns -1 after a failure. */
static inline int open_device(struct context *c, const char *name, uint64_t bytes, int flags)
{
	struct stat status;
	char use[1200];
	uint64_t size = 0;
	if (stat(name, &status) != 0) {
		failed_because(c, "device", "%s: %s; `lsblk` lists the devices here", name, strerror(errno));
		return -1;
	}
	if (!S_ISBLK(status.st_mode)) {
		failed_because(c, "device", "%s is not a block device; `lsblk` lists those here", name);
		return -1;
	}
	find_use(status.st_rdev, use, sizeof use);
	if (*use != '\0') {
		failed_because(c, "device", "%s is in use: %s; nothing was written: choose another one", name, use);
		return -1;
	}
	if (strcmp(parameter(c, "overwrite", "none"), name) != 0) {
		failed_because(c, "device",
			       "the first %u KB of %s would be overwritten, and their data lost; to confirm, add --param overwrite=%s",
			       (unsigned)(bytes / 1024), name, name);
		return -1;
	}
	int file = open(name, O_RDWR | O_DIRECT | O_EXCL | O_CLOEXEC | flags);
	if (file < 0) {
		failed_because(c, "device", "cannot open %s: %s; nothing was written: %s", name, strerror(errno),
			       errno == EBUSY ? "choose one that no file system, swap, RAID or mapper uses"
					      : "it takes root, or the group of its disks");
	} else if (ioctl(file, BLKGETSIZE64, &size) != 0 || size < bytes) {
		failed_because(c, "device", "%s has %u KB, and %u will be written: choose a larger one", name,
			       (unsigned)(size / 1024), (unsigned)(bytes / 1024));
		close(file);
		return -1;
	}
	return file;
}

#endif
