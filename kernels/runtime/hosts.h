/* Two hosts on one machine: network namespaces joined by a pair of virtual interfaces. They have no names, and are gone with their processes;
 * the addresses are of the hosts alone. */
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

#define NO_HOSTS_BECAUSE \
	"two network namespaces joined by veth cannot be made: that takes root or user namespaces, and ip(8) (apt-get install iproute2)"

static const char *const hosts[] = {"10.213.7.1", "10.213.7.2"};

/* Gives commands of ip(8) to the shell, which looks for it where root's tools are before it looks on PATH; whether they ended well. */
static inline int shell(const char *commands)
{
	char line[512];
	snprintf(line, sizeof line, "PATH=/usr/sbin:/sbin:/usr/bin:/bin:$PATH; exec 2>/dev/null; %s", commands);
	return system(line) == 0;
}

static inline int writes(const char *path, const char *text)
{
	int file = open(path, O_WRONLY | O_CLOEXEC);
	int well = file >= 0 && write(file, text, strlen(text)) == (ssize_t)strlen(text);
	if (file >= 0)
		close(file);
	return well;
}

/* A network of this process alone; without root, as the root of a user namespace. */
static inline int alone(void)
{
	char map[64];
	unsigned user = geteuid(), group = getegid();
	if (unshare(CLONE_NEWNET) == 0)
		return 1;
	if (unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0)
		return 0;
	snprintf(map, sizeof map, "0 %u 1", user);
	if (!writes("/proc/self/uid_map", map))
		return 0;
	snprintf(map, sizeof map, "0 %u 1", group);
	return writes("/proc/self/setgroups", "deny") && writes("/proc/self/gid_map", map);
}

/* The first host, which is alone, joins itself to the other, which is too. */
static inline int join_host(pid_t other)
{
	char text[256];
	snprintf(text, sizeof text,
		 "ip link add transfer1 type veth peer name transfer2 netns %d && ip addr add %s/30 dev transfer1 && "
		 "ip link set transfer1 up",
		 (int)other, hosts[0]);
	return shell(text);
}

/* The other host takes up the interface that the first has given to it, and its own, by which it reaches itself. */
static inline int take_up(void)
{
	char text[256];
	snprintf(text, sizeof text, "ip link set lo up && ip addr add %s/30 dev transfer2 && ip link set transfer2 up", hosts[1]);
	return shell(text);
}

static inline struct sockaddr_in at(const char *host, in_port_t port)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = port};
	inet_pton(AF_INET, host, &address.sin_addr);
	return address;
}

#endif
