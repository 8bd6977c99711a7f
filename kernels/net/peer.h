/* A server on another host: the same program, started there with end=far by Gritstone's agent.
 *
 * The client connects to the abstract socket channel=, whose listener has the server started, forwards the token that is sent first, and
 * relays the server's reports. The server reads the token from standard input, which other users of its host cannot see, writes its reports
 * to standard output, and is killed with its agent. Both sides get address=, the address at which the server listens.
 */
#ifndef GRITSTONE_NET_PEER_H
#define GRITSTONE_NET_PEER_H

static inline int is_server(struct context *c)
{
	return strcmp(parameter(c, "end", "near"), "far") == 0;
}

static inline void parse_peer_address(struct context *c)
{
	struct sockaddr_in *four = (void *)&peer_address;
	struct sockaddr_in6 *six = (void *)&peer_address;
	peer_host = parameter(c, "address", "");
	if (inet_pton(AF_INET, peer_host, &four->sin_addr) == 1)
		peer_address.ss_family = AF_INET;
	else if (inet_pton(AF_INET6, peer_host, &six->sin6_addr) == 1)
		peer_address.ss_family = AF_INET6;
	else
		wrong_arguments(c, "address=%s is not an IPv4 or IPv6 address", peer_host);
}

/* Returns 0 on failure. */
static inline int request_server(struct context *c)
{
	struct sockaddr_un channel = {.sun_family = AF_UNIX};
	const char *name = parameter(c, "channel", "");
	size_t length = strlen(name);
	if (length >= sizeof channel.sun_path)
		wrong_arguments(c, "channel=%s is too long for a socket", name);
	memcpy(channel.sun_path + 1, name, length);
	report_pipe[READ_END] = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (report_pipe[READ_END] >= 0 && connect(report_pipe[READ_END], (struct sockaddr *)&channel, (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + length)) == 0 &&
	    send_all(report_pipe[READ_END], token, sizeof token))
		return 1;
	failed(c, "channel");
	return 0;
}

/* Returns on the client only. */
static inline int start_peer_server(struct context *c, void (*serve)(void))
{
	parse_peer_address(c);
	if (!is_server(c))
		return request_server(c);
	report_pipe[WRITE_END] = STDOUT_FILENO;
	serve();
	_exit(0);
}

#endif
