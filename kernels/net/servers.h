/* Programs of the machine that copy files, and the servers that they need, for net/transfer: scp with an sshd, rsync with its daemon, curl with
 * Python's server of HTTP, cp on a file system that is mounted (mounts.h): sshfs over an sshd, 9p from diod, NFS from Ganesha, which is a process,
 * where the kernel's own server has threads that outlive a launch. What the far end has is in a directory of its own. Each end of ssh makes its own
 * key, and says the public half to the other.
 */
#ifndef GRITSTONE_NET_SERVERS_H
#define GRITSTONE_NET_SERVERS_H

#include "programs.h"

enum by { OURS, SCP, RSYNC, HTTP, SSHFS, NINE_P, NFS }; /* from SSHFS on files are mounted */
enum { MOST_ARGUMENTS = 24 };

static enum by by;
static in_port_t server_port;
static int from_far;		   /* the file comes from there */
static char far_user[64];	   /* of ssh */
static char far_directory[SAID];   /* of the far end */
static const char *const sent = "sent"; /* the file that is copied */

static inline int by_ssh(void)
{
	return by == SCP || by == SSHFS;
}

/* Programs are given nothing but the secret, where they take one. */
static inline void give_secret(void)
{
	static char variable[64];
	static char *with[] = {variable, NULL};
	snprintf(variable, sizeof variable, "%s=%s", by == OURS ? "TOKEN" : "RSYNC_PASSWORD", secret);
	if (by == OURS || by == RSYNC)
		environment = with;
}

/* A key of this end alone; whether it was made. */
static inline int has_made_key(const char *program, const char *name)
{
	const char *const argv[] = {program, "-q", "-t", "ed25519", "-N", "", "-C", "", "-f", name, NULL};
	return runs_well(argv, "ssh-keygen.log");
}

/* sshd of root does not start without an empty directory that its service makes. Where that does not run, it is made where nobody else sees it. */
static inline void start_sshd(struct context *c, const char *port)
{
	if (geteuid() == 0 && access("/run/sshd", F_OK) != 0 &&
	    (unshare(CLONE_NEWNS) != 0 || !shell("mount --make-rprivate / && mount -t tmpfs none /run && mkdir -m 755 /run/sshd")))
		complain("there is no /run/sshd, and it cannot be made in a mount namespace");
	if (!has_made_key(far_program(c, "ssh-keygen", "ssh-keygen", "openssh-client"), "host-key"))
		complain("ssh-keygen makes no key: %s", said_in("ssh-keygen.log"));
	if (!has_written("sshd.conf",
			 "ListenAddress %s\nPort %s\nHostKey \"%s/host-key\"\nAuthorizedKeysFile \"%s/user-key.pub\"\nPidFile none\nStrictModes no\n"
			 "UsePAM no\nPasswordAuthentication no\nKbdInteractiveAuthentication no\nPermitRootLogin prohibit-password\nPermitUserRC no\n"
			 "AllowTcpForwarding no\nX11Forwarding no\nSubsystem sftp internal-sftp\nForceCommand internal-sftp\n",
			 far_text(), port, directory, directory))
		complain("it cannot write sshd.conf: %s", strerror(errno));
	const char *const argv[] = {far_program(c, "sshd", "/usr/sbin/sshd", "openssh-server"), "-D", "-e", "-f", "sshd.conf", NULL};
	server = start_tied(argv, "server.log");
}

/* The account of the far end, the key of its host, and its directory, each on a line: for a client of ssh. */
static inline void say_host(char *text, size_t size)
{
	char key[256];
	FILE *id = popen("PATH=/usr/bin:/bin; id -un", "re");
	if (id == NULL || fscanf(id, "%63s", far_user) != 1)
		complain("id(1) does not say which user it is");
	pclose(id);
	read_text("host-key.pub", key, sizeof key);
	key[strcspn(key, "\n")] = '\0';
	if ((size_t)snprintf(text, size, "%s\n%s\n%s", far_user, key, directory) >= size)
		complain("the name of its directory is too long");
}

/* What the far end has said of itself; whether a client of ssh can know it. */
static inline int know_host(const char *text)
{
	static const char *const in_names = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-";
	char key[256];
	/* the name becomes a part of an argument */
	return sscanf(text, "%63[^\n]\n%255[^\n]\n%1023[^\n]", far_user, key, far_directory) == 3 && far_user[0] != '-' &&
	       far_user[strspn(far_user, in_names)] == '\0' &&
	       has_written("known-hosts", "[%s]:%u %s\n", far_text(), ntohs(server_port), key);
}

static inline void start_rsyncd(struct context *c, const char *port)
{
	char address[64], at_port[32];
	snprintf(address, sizeof address, "--address=%s", far_text());
	snprintf(at_port, sizeof at_port, "--port=%s", port);
	/* what is in the directory is the user's: the daemon writes as who started it */
	if (!has_written("rsyncd.conf",
			 "log file = %s/rsyncd.log\nuse chroot = no\nuid = %u\ngid = %u\n[received]\npath = %s/received\nread only = no\nauth users = run\nsecrets file = %s/secrets\n",
			 directory, geteuid(), getegid(), directory, directory) ||
	    !has_written("secrets", "run:%s\n", secret))
		complain("it cannot write rsyncd.conf: %s", strerror(errno));
	const char *const argv[] = {far_program(c, "rsync", "rsync", "rsync"), "--daemon", "--no-detach", "--config=rsyncd.conf", address, at_port, NULL};
	server = start_tied(argv, "server.log");
}

/* The file is served below a directory that has the token for a name. */
static inline void start_http(struct context *c, const char *port)
{
	char path[128];
	snprintf(path, sizeof path, "served/%s", secret);
	int well = mkdir("served", 0700) == 0 && mkdir(path, 0700) == 0;
	snprintf(path, sizeof path, "served/%s/%s", secret, sent);
	if (!well || link(sent, path) != 0)
		complain("it cannot serve the file: %s", strerror(errno));
	start_python(c, port, "server.log");
}

/* The kernel's client of 9p has no authentication: the network is private to the two hosts. */
static inline void start_diod(struct context *c, const char *port)
{
	char address[64];
	snprintf(address, sizeof address, "%s:%s", hosts[1], port);
	/* it refuses a host that has no name, and waits for a server of names that is in another network */
	if (!has_written("names", "%s near\n%s far\n", hosts[0], hosts[1]) || unshare(CLONE_NEWNS) != 0 ||
	    !shell("mount --make-rprivate / && mount --bind names /etc/hosts"))
		complain("the hosts cannot be given names in a mount namespace");
	const char *const argv[] = {far_program(c, "diod", "/usr/sbin/diod", "diod"), "-f", "-n", "-c", "/dev/null", "-L", "stderr", "-l", address, "-e", directory, NULL};
	server = start_tied(argv, "server.log");
}

/* NFS 4.1 alone, which takes one port and no other daemon; at all addresses of a network that is its own. It looks for a bus and for Kerberos, and
 * goes on without. */
static inline void start_ganesha(struct context *c, const char *port)
{
	if (!has_written("ganesha.conf",
			 "NFS_CORE_PARAM { Protocols = 4; NFS_Port = %s; Enable_RQUOTA = false; Enable_NLM = false; }\n"
			 "NFSV4 { Graceless = true; Minor_Versions = 1; RecoveryRoot = \"%s\"; Only_Numeric_Owners = true; UseGetpwnam = true; DomainName = \"far\"; }\n"
			 "EXPORT { Export_Id = 1; Path = \"%s\"; Pseudo = \"/far\"; Access_Type = RW; Squash = None; SecType = sys; Protocols = 4; Attr_Expiration_Time = 0;\n"
			 "Transports = TCP; FSAL { Name = VFS; } }\nLOG { Default_Log_Level = CRIT; }\n",
			 port, directory, directory))
		complain("it cannot write ganesha.conf: %s", strerror(errno));
	const char *const argv[] = {
		far_program(c, "ganesha", "/usr/bin/ganesha.nfsd", "nfs-ganesha nfs-ganesha-vfs"), "-F", "-f", "ganesha.conf", "-L", "STDERR", "-p", "ganesha.pid", NULL};
	server = start_tied(argv, "server.log");
}

/* Of the far end: starts the server that is needed, waits until it takes connections, and says what a client must know of it. */
static inline void start_server(struct context *c)
{
	static void (*const starts[])(struct context *, const char *) = {NULL, start_sshd, start_rsyncd, start_http, start_sshd, start_diod,
								   start_ganesha};
	in_port_t port = free_port();
	char number[16], host[SAID] = "";
	snprintf(number, sizeof number, "%u", ntohs(port));
	starts[by](c, number);
	await_server(port);
	if (by_ssh())
		say_host(host, sizeof host);
	say_server(port, by == NINE_P ? directory : host);
}

/* What a user would type to copy the file, under a name of digits. */
static inline void copy_command(struct context *c, const char *name, const char **argv)
{
	static char port[16], to[PATH_MAX + 64], from[128], hosts_file[PATH_MAX + 64];
	int n = 0;
	snprintf(port, sizeof port, "%u", ntohs(server_port));
	switch (by) {
	case OURS:
		argv[n++] = parameter(c, "net/copy", "copy");
		argv[n++] = sent;
		argv[n++] = name;
		argv[n++] = far_text();
		argv[n++] = port;
		break;
	case SCP:
		snprintf(hosts_file, sizeof hosts_file, "UserKnownHostsFile=%s/known-hosts", directory);
		snprintf(to, sizeof to, "%s@%s:%s/received/%s", far_user, far_before_port(), far_directory, name);
		for (const char *const *word = (const char *const[]){parameter(c, "scp", "scp"), "-q", "-F", "none", "-S", parameter(c, "ssh", "ssh"), "-i",
								     "user-key", "-o", "IdentitiesOnly=yes", "-o", "IdentityAgent=none", "-o", "BatchMode=yes",
								     "-o", "GlobalKnownHostsFile=none", "-o", hosts_file, "-P", port, sent, to, NULL};
		     *word != NULL; word++)
			argv[n++] = *word;
		break;
	case RSYNC:
		snprintf(to, sizeof to, "rsync://run@%s:%s/received/%s", far_before_port(), port, name);
		argv[n++] = parameter(c, "rsync", "rsync");
		argv[n++] = "--whole-file";
		argv[n++] = sent;
		argv[n++] = to;
		break;
	case HTTP:
		snprintf(from, sizeof from, "http://%s:%s/%s/%s", far_before_port(), port, secret, sent);
		snprintf(to, sizeof to, "received/%s", name);
		for (const char *const *word = (const char *const[]){parameter(c, "curl", "curl"), "-q", "-g", "-sS", "--fail", "--noproxy", "*", "-o", to, from, NULL};
		     *word != NULL; word++)
			argv[n++] = *word;
		break;
	case SSHFS:
	case NINE_P:
	case NFS:
		snprintf(from, sizeof from, "%s%s", from_far ? "mounted/" : "", sent);
		snprintf(to, sizeof to, "%sreceived/%s", from_far ? "" : "mounted/", name);
		argv[n++] = parameter(c, "cp", "cp");
		argv[n++] = from;
		argv[n++] = to;
		break;
	}
	argv[n] = NULL;
}

#endif
