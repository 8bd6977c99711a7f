/* Two hosts on one machine: network namespaces joined by a veth pair. The namespaces are anonymous and vanish with their processes; the
 * addresses exist only inside. */
#ifndef GRITSTONE_HOSTS_H
#define GRITSTONE_HOSTS_H

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define NO_VETH_REASON \
	"cannot create two network namespaces joined by veth: that takes root or user namespaces, and ip(8) (apt-get install iproute2)"

static const char *const hosts[] = {"10.213.7.1", "10.213.7.2"};

/* Runs commands with the directories of root's tools first in PATH. Returns whether they succeeded. */
static inline int shell(const char *commands)
{
	char line[512];
	snprintf(line, sizeof line, "PATH=/usr/sbin:/sbin:/usr/bin:/bin:$PATH; exec 2>/dev/null; %s", commands);
	return system(line) == 0;
}

static inline int write_file(const char *path, const char *text)
{
	int file = open(path, O_WRONLY | O_CLOEXEC);
	int ok = file >= 0 && write(file, text, strlen(text)) == (ssize_t)strlen(text);
	if (file >= 0)
		close(file);
	return ok;
}

/* Enters a new network namespace; without root, in a new user namespace too. */
static inline int unshare_network(void)
{
	char map[64];
	unsigned user = geteuid(), group = getegid();
	if (unshare(CLONE_NEWNET) == 0)
		return 1;
	if (unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0)
		return 0;
	snprintf(map, sizeof map, "0 %u 1", user);
	if (!write_file("/proc/self/uid_map", map))
		return 0;
	snprintf(map, sizeof map, "0 %u 1", group);
	return write_file("/proc/self/setgroups", "deny") && write_file("/proc/self/gid_map", map);
}

/* Called by the first host. The other process must be in its own network namespace already. */
static inline int join_hosts(pid_t other)
{
	char text[256];
	snprintf(text, sizeof text,
		 "ip link add transfer1 type veth peer name transfer2 netns %d && ip addr add %s/30 dev transfer1 && "
		 "ip link set transfer1 up",
		 (int)other, hosts[0]);
	return shell(text);
}

/* Called by the second host after join_hosts(). */
static inline int configure_second_host(void)
{
	char text[256];
	snprintf(text, sizeof text, "ip link set lo up && ip addr add %s/30 dev transfer2 && ip link set transfer2 up", hosts[1]);
	return shell(text);
}

static inline struct sockaddr_in ipv4_address(const char *host, in_port_t port)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = port};
	inet_pton(AF_INET, host, &address.sin_addr);
	return address;
}

#endif
