/* Mounts of the server's file systems on the client, for net/remote-file, in a mount namespace that dies with the process. */
#ifndef GRITSTONE_NET_MOUNTS_H
#define GRITSTONE_NET_MOUNTS_H

#include <sys/mount.h>
#include <sys/vfs.h>

#include "servers.h"

enum { FUSE_MAGIC = 0x65735546 };

static pid_t sshfs_pid;

static inline int make_mount_point(struct context *c)
{
	if (mkdir("mounted", 0700) == 0 && unshare(CLONE_NEWNS) == 0 && shell("mount --make-rprivate /"))
		return 1;
	skip(c, "cannot create a mount namespace for the server's files: %s", strerror(errno));
	return 0;
}

static inline void mount_kernel(struct context *c, const char *source, const char *type, const char *options, const char *configured)
{
	if (!make_mount_point(c) || mount(source, "mounted", type, MS_NOSUID | MS_NODEV | MS_NOEXEC, options) == 0)
		return;
	if (errno == ENODEV)
		skip(c, "this kernel has no file system %s: %s off, or their modules are not installed", type, configured);
	else
		failed(c, "mount");
}

static inline void mount_9p(struct context *c)
{
	char options[REPORT_BYTES + 128];
	snprintf(options, sizeof options, "trans=tcp,port=%u,version=9p2000.L,uname=root,access=any,cache=none,aname=%s", ntohs(daemon_port), server_directory);
	mount_kernel(c, hosts[1], "9p", options, "CONFIG_NET_9P and CONFIG_9P_FS are");
}

/* No caching of names and attributes, since the server changes files locally; soft, so that calls fail when the server has exited. */
static inline void mount_nfs(struct context *c)
{
	char options[256], source[64];
	snprintf(source, sizeof source, "%s:/far", hosts[1]);
	snprintf(options, sizeof options, "vers=4.1,proto=tcp,port=%u,addr=%s,clientaddr=%s,sec=sys,actimeo=0,lookupcache=none,soft,timeo=100,retrans=1",
		 ntohs(daemon_port), hosts[1], hosts[0]);
	mount_kernel(c, source, "nfs4", options, "CONFIG_NFS_FS and CONFIG_NFS_V4_1 are");
}

static inline int mount_sshfs(struct context *c)
{
	static char host[REPORT_BYTES + 128], port[16], key[PATH_MAX + 64], known_hosts[PATH_MAX + 64], ssh[PATH_MAX + 64];
	struct statfs mounted;
	snprintf(host, sizeof host, "%s@%s:%s", server_user, server_host_for_url(), server_directory);
	snprintf(port, sizeof port, "%u", ntohs(daemon_port));
	snprintf(key, sizeof key, "IdentityFile=%s/user-key", directory);
	snprintf(known_hosts, sizeof known_hosts, "UserKnownHostsFile=%s/known-hosts", directory);
	snprintf(ssh, sizeof ssh, "ssh_command=%s -F none", parameter(c, "ssh", "ssh"));
	const char *const argv[] = {parameter(c, "sshfs", "sshfs"), "-f", "-o", ssh, "-o", key, "-o", known_hosts, "-o", "GlobalKnownHostsFile=none", "-o",
				    "IdentitiesOnly=yes", "-o", "IdentityAgent=none", "-o", "BatchMode=yes", "-p", port, host, "mounted", NULL};
	if (!make_mount_point(c))
		return 0;
	sshfs_pid = start_background(argv, "sshfs.log");
	for (int i = 0; i < TIMEOUT_S * 100 && sshfs_pid > 0 && waitpid(sshfs_pid, NULL, WNOHANG) == 0; i++) {
		const struct timespec span = {0, 10000000};
		if (statfs("mounted", &mounted) == 0 && mounted.f_type == FUSE_MAGIC)
			return 1;
		nanosleep(&span, NULL);
	}
	failed_because(c, "sshfs", "no file system was mounted: %s", log_tail("sshfs.log"));
	return 0;
}

#endif
