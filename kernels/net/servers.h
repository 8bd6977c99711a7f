/* Installed programs that copy files, and their daemons, for net/transfer: scp with sshd, rsync with its daemon, curl with Python's
 * http.server, cp on a mounted file system (mounts.h): sshfs over sshd, 9p from diod, NFS from Ganesha, which is a process, where the
 * kernel's NFS server has threads that outlive a launch. The server's files are in a directory of its own. Each side of ssh creates its own
 * key and sends the public half.
 */
#ifndef GRITSTONE_NET_SERVERS_H
#define GRITSTONE_NET_SERVERS_H

#include "programs.h"

enum by { OURS, SCP, RSYNC, HTTP, SSHFS, NINE_P, NFS }; /* SSHFS and later: mounted file systems */
enum { MAX_ARGUMENTS = 32 };

static enum by by;
static in_port_t daemon_port;
static int from_server;		   /* whether the file is copied from the server */
static char server_user[64];	   /* account for ssh */
static char server_directory[REPORT_BYTES];
static const char *const source_file = "sent"; /* name of the copied file */

static inline int by_ssh(void)
{
	return by == SCP || by == SSHFS;
}

/* Programs start with an empty environment, except for the secret where they need it. */
static inline void set_secret_variable(void)
{
	static char variable[64];
	static char *with[] = {variable, NULL};
	snprintf(variable, sizeof variable, "%s=%s", by == OURS ? "TOKEN" : "RSYNC_PASSWORD", secret);
	if (by == OURS || by == RSYNC)
		environment = with;
}

/* Returns 0 on failure. */
static inline int make_key(const char *program, const char *name)
{
	const char *const argv[] = {program, "-q", "-t", "ed25519", "-N", "", "-C", "", "-f", name, NULL};
	return run_program(argv, "ssh-keygen.log");
}

/* The server permits SFTP alone, which scp speaks with -s: it is in OpenSSH from 8.7 on, whose usage it then prints without a complaint. */
static inline int scp_speaks_sftp(struct context *c)
{
	const char *const argv[] = {parameter(c, "scp", "scp"), "-s", NULL};
	char text[1024];
	run_program(argv, "scp.log");
	read_text("scp.log", text, sizeof text);
	return strstr(text, "option -- ") == NULL;
}

/* sshd run by root needs the empty directory /run/sshd, which its service creates. Without the service, it is created in a mount namespace. */
static inline void start_sshd(struct context *c, const char *port)
{
	if (geteuid() == 0 && access("/run/sshd", F_OK) != 0 &&
	    (unshare(CLONE_NEWNS) != 0 || !shell("mount --make-rprivate / && mount -t tmpfs none /run && mkdir -m 755 /run/sshd")))
		server_fail("there is no /run/sshd, and it cannot be created in a mount namespace");
	if (!make_key(server_program(c, "ssh-keygen", "ssh-keygen", "openssh-client"), "host-key"))
		server_fail("ssh-keygen cannot create a key: %s", log_tail("ssh-keygen.log"));
	if (!write_text_file("sshd.conf",
			 "ListenAddress %s\nPort %s\nHostKey \"%s/host-key\"\nAuthorizedKeysFile \"%s/user-key.pub\"\nPidFile none\nStrictModes no\n"
			 "UsePAM no\nPasswordAuthentication no\nKbdInteractiveAuthentication no\nPermitRootLogin prohibit-password\nPermitUserRC no\n"
			 "AllowTcpForwarding no\nX11Forwarding no\nSubsystem sftp internal-sftp\nForceCommand internal-sftp\n",
			 server_host(), port, directory, directory))
		server_fail("cannot write sshd.conf: %s", strerror(errno));
	const char *const argv[] = {server_program(c, "sshd", "/usr/sbin/sshd", "openssh-server"), "-D", "-e", "-f", "sshd.conf", NULL};
	daemon_pid = start_background(argv, "server.log");
}

/* The server's account, host key and directory, one per line, for the ssh client. */
static inline void describe_host(char *text, size_t size)
{
	char key[256];
	FILE *id = popen("PATH=/usr/bin:/bin; id -un", "re");
	if (id == NULL || fscanf(id, "%63s", server_user) != 1)
		server_fail("id(1) does not print the user name");
	pclose(id);
	read_text("host-key.pub", key, sizeof key);
	key[strcspn(key, "\n")] = '\0';
	if ((size_t)snprintf(text, size, "%s\n%s\n%s", server_user, key, directory) >= size)
		server_fail("the path of its directory is too long");
}

/* Parses the text of describe_host() and writes known-hosts. Returns 0 on failure. */
static inline int parse_host(const char *text)
{
	static const char *const in_names = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-";
	char key[256];
	/* the name becomes part of a command-line argument */
	return sscanf(text, "%63[^\n]\n%255[^\n]\n%1023[^\n]", server_user, key, server_directory) == 3 && server_user[0] != '-' &&
	       server_user[strspn(server_user, in_names)] == '\0' &&
	       write_text_file("known-hosts", "[%s]:%u %s\n", server_host(), ntohs(daemon_port), key);
}

static inline void start_rsyncd(struct context *c, const char *port)
{
	char address[64], at_port[32];
	snprintf(address, sizeof address, "--address=%s", server_host());
	snprintf(at_port, sizeof at_port, "--port=%s", port);
	/* the daemon runs as the user who owns the directory */
	if (!write_text_file("rsyncd.conf",
			 "log file = %s/rsyncd.log\nuse chroot = no\nuid = %u\ngid = %u\n[received]\npath = %s/received\nread only = no\nauth users = run\nsecrets file = %s/secrets\n",
			 directory, geteuid(), getegid(), directory, directory) ||
	    !write_text_file("secrets", "run:%s\n", secret))
		server_fail("cannot write rsyncd.conf: %s", strerror(errno));
	const char *const argv[] = {server_program(c, "rsync", "rsync", "rsync"), "--daemon", "--no-detach", "--config=rsyncd.conf", address, at_port, NULL};
	daemon_pid = start_background(argv, "server.log");
}

/* Access control is the URL: the file's directory is named by the secret. */
static inline void start_http(struct context *c, const char *port)
{
	char path[128];
	snprintf(path, sizeof path, "served/%s", secret);
	int ok = mkdir("served", 0700) == 0 && mkdir(path, 0700) == 0;
	snprintf(path, sizeof path, "served/%s/%s", secret, source_file);
	if (!ok || link(source_file, path) != 0)
		server_fail("cannot serve the file: %s", strerror(errno));
	start_python(c, port, "server.log");
}

/* The kernel's client of 9p has no authentication: the network is private to the two hosts. */
static inline void start_diod(struct context *c, const char *port)
{
	char address[64];
	snprintf(address, sizeof address, "%s:%s", hosts[1], port);
	/* it rejects a host without a name, and would wait for a DNS server that is in another network */
	if (!write_text_file("names", "%s near\n%s far\n", hosts[0], hosts[1]) || unshare(CLONE_NEWNS) != 0 ||
	    !shell("mount --make-rprivate / && mount --bind names /etc/hosts"))
		server_fail("cannot name the hosts in a mount namespace");
	const char *const argv[] = {server_program(c, "diod", "/usr/sbin/diod", "diod"), "-f", "-n", "-c", "/dev/null", "-L", "stderr", "-l", address, "-e", directory, NULL};
	daemon_pid = start_background(argv, "server.log");
}

/* NFS 4.1 needs a single port and no other daemon. It listens on all addresses of its private network. D-Bus and Kerberos are optional. */
static inline void start_ganesha(struct context *c, const char *port)
{
	if (!write_text_file("ganesha.conf",
			 "NFS_CORE_PARAM { Protocols = 4; NFS_Port = %s; Enable_RQUOTA = false; Enable_NLM = false; }\n"
			 "NFSV4 { Graceless = true; Minor_Versions = 1; RecoveryRoot = \"%s\"; Only_Numeric_Owners = true; UseGetpwnam = true; DomainName = \"far\"; }\n"
			 "EXPORT { Export_Id = 1; Path = \"%s\"; Pseudo = \"/far\"; Access_Type = RW; Squash = None; SecType = sys; Protocols = 4; Attr_Expiration_Time = 0;\n"
			 "Transports = TCP; FSAL { Name = VFS; } }\nLOG { Default_Log_Level = CRIT; }\n",
			 port, directory, directory))
		server_fail("cannot write ganesha.conf: %s", strerror(errno));
	const char *const argv[] = {
		server_program(c, "ganesha", "/usr/bin/ganesha.nfsd", "nfs-ganesha nfs-ganesha-vfs"), "-F", "-f", "ganesha.conf", "-L", "STDERR", "-p", "ganesha.pid", NULL};
	daemon_pid = start_background(argv, "server.log");
}

/* Server: starts the daemon, waits until it accepts connections, and announces it. */
static inline void start_daemon(struct context *c)
{
	static void (*const starts[])(struct context *, const char *) = {NULL, start_sshd, start_rsyncd, start_http, start_sshd, start_diod,
								   start_ganesha};
	in_port_t port = free_port();
	char number[16], host[REPORT_BYTES] = "";
	snprintf(number, sizeof number, "%u", ntohs(port));
	starts[by](c, number);
	await_daemon(port);
	if (by_ssh())
		describe_host(host, sizeof host);
	announce(port, by == NINE_P ? directory : host);
}

/* The command line that a user would type. `name`, of the copy, consists of digits. */
static inline void copy_command(struct context *c, const char *name, const char **argv)
{
	static char port[16], to[PATH_MAX + 64], from[128], hosts_file[PATH_MAX + 64];
	int n = 0;
	snprintf(port, sizeof port, "%u", ntohs(daemon_port));
	switch (by) {
	case OURS:
		argv[n++] = parameter(c, "net/copy", "copy");
		argv[n++] = source_file;
		argv[n++] = name;
		argv[n++] = server_host();
		argv[n++] = port;
		break;
	case SCP:
		snprintf(hosts_file, sizeof hosts_file, "UserKnownHostsFile=%s/known-hosts", directory);
		snprintf(to, sizeof to, "%s@%s:%s/received/%s", server_user, server_host_for_url(), server_directory, name);
		for (const char *const *word = (const char *const[]){parameter(c, "scp", "scp"), "-s", "-q", "-F", "none", "-S", parameter(c, "ssh", "ssh"), "-i",
								     "user-key", "-o", "IdentitiesOnly=yes", "-o", "IdentityAgent=none", "-o", "BatchMode=yes",
								     "-o", "GlobalKnownHostsFile=none", "-o", hosts_file, "-P", port, source_file, to, NULL};
		     *word != NULL; word++)
			argv[n++] = *word;
		break;
	case RSYNC:
		snprintf(to, sizeof to, "rsync://run@%s:%s/received/%s", server_host_for_url(), port, name);
		argv[n++] = parameter(c, "rsync", "rsync");
		argv[n++] = "--whole-file";
		argv[n++] = source_file;
		argv[n++] = to;
		break;
	case HTTP:
		snprintf(from, sizeof from, "http://%s:%s/%s/%s", server_host_for_url(), port, secret, source_file);
		snprintf(to, sizeof to, "received/%s", name);
		for (const char *const *word = (const char *const[]){parameter(c, "curl", "curl"), "-q", "-g", "-sS", "--fail", "--noproxy", "*", "-o", to, from, NULL};
		     *word != NULL; word++)
			argv[n++] = *word;
		break;
	case SSHFS:
	case NINE_P:
	case NFS:
		snprintf(from, sizeof from, "%s%s", from_server ? "mounted/" : "", source_file);
		snprintf(to, sizeof to, "%sreceived/%s", from_server ? "" : "mounted/", name);
		argv[n++] = parameter(c, "cp", "cp");
		argv[n++] = from;
		argv[n++] = to;
		break;
	}
	argv[n] = NULL;
}

#endif
