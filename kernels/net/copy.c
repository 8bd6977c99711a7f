/* The copy client of net/transfer: copy FILE NAME ADDRESS PORT, the launch's token in the environment. Exits with 0 after the server has
 * confirmed as many bytes as the file has. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include "transfer_wire.h"

static char piece[PIECE];

static _Noreturn void die(const char *what)
{
	fprintf(stderr, "copy: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void send_all(int s, const void *from, size_t size)
{
	for (size_t sent = 0; sent < size;) {
		ssize_t n = send(s, (const char *)from + sent, size - sent, MSG_NOSIGNAL);
		if (n <= 0)
			die("cannot send");
		sent += (size_t)n;
	}
}

static int connect_to(const char *host, const char *port)
{
	const struct timeval timeout = {.tv_sec = 10};
	struct sockaddr_in four = {.sin_family = AF_INET, .sin_port = htons((in_port_t)strtoul(port, NULL, 10))};
	struct sockaddr_in6 six = {.sin6_family = AF_INET6, .sin6_port = four.sin_port};
	int is_six = strchr(host, ':') != NULL;
	const struct sockaddr *address = is_six ? (const void *)&six : (const void *)&four;
	int s = socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (s < 0 || inet_pton(address->sa_family, host, is_six ? (void *)&six.sin6_addr : (void *)&four.sin_addr) != 1 ||
	    setsockopt(s, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout) != 0 ||
	    setsockopt(s, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof timeout) != 0 ||
	    connect(s, address, is_six ? sizeof six : sizeof four) != 0)
		die("cannot connect");
	return s;
}

int main(int argc, char **argv)
{
	struct request request = {.what = COPY};
	struct reply reply;
	struct stat status;
	const char *token = getenv("TOKEN");
	ssize_t n;
	if (argc != 5 || token == NULL || strlen(token) != 2 * TOKEN_BYTES || strlen(argv[2]) >= NAME_BYTES) {
		fprintf(stderr, "usage: TOKEN=... copy FILE NAME ADDRESS PORT\n");
		return 2;
	}
	for (int i = 0; i < TOKEN_BYTES; i++) {
		const char digits[] = {token[2 * i], token[2 * i + 1], '\0'};
		request.token[i] = (unsigned char)strtoul(digits, NULL, 16);
	}
	strcpy(request.name, argv[2]);
	int file = open(argv[1], O_RDONLY | O_CLOEXEC);
	if (file < 0 || fstat(file, &status) != 0)
		die(argv[1]);
	request.size = (uint64_t)status.st_size;
	int s = connect_to(argv[3], argv[4]);
	send_all(s, &request, sizeof request);
	while ((n = read(file, piece, sizeof piece)) > 0)
		send_all(s, piece, (size_t)n);
	if (n < 0)
		die(argv[1]);
	if (recv(s, &reply, sizeof reply, MSG_WAITALL) != sizeof reply)
		die("no reply");
	if (reply.bytes != request.size) {
		fprintf(stderr, "copy: %llu of %llu bytes arrived\n", (unsigned long long)reply.bytes, (unsigned long long)request.size);
		return 1;
	}
	return 0;
}
