/* ZFS reads from a cache of its own (ARC) besides the page cache: posix_fadvise, drop_caches and O_DIRECT do not empty it, and mincore does
 * not see it. */
#ifndef GRITSTONE_FS_SECOND_CACHE_H
#define GRITSTONE_FS_SECOND_CACHE_H

#include <stdint.h>
#include <sys/vfs.h>

#define ZFS 0x2fc12fc1u /* f_type of statfs(2) */
#define SECOND_CACHE \
	"The file system here, ZFS, keeps files in a cache of its own, which cannot be emptied: choose a directory on another one with --dir."

static inline int has_second_cache(int file)
{
	struct statfs kind;
	return fstatfs(file, &kind) == 0 && (uint32_t)kind.f_type == ZFS;
}

#endif
