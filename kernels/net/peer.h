/* The far end on another host: the same program, started there with end=far by what there is of Gritstone on that host.
 *
 * Of the near end, channel= is the name of an abstract socket: who listens there has the far end started, hands it the token that is sent first, and
 * hands back what it says. The far end has the token from its standard input, which is no place that other users of that host see, says what it
 * has to say on its standard output, and is ended with whoever started it. address= is where it listens, at both ends: an address of that host.
 */
#ifndef GRITSTONE_NET_PEER_H
#define GRITSTONE_NET_PEER_H

static inline int is_far(struct context *c)
{
	return strcmp(parameter(c, "end", "near"), "far") == 0;
}

static inline void read_far_address(struct context *c)
{
	struct sockaddr_in *four = (void *)&far_address;
	struct sockaddr_in6 *six = (void *)&far_address;
	far_host = parameter(c, "address", "");
	if (inet_pton(AF_INET, far_host, &four->sin_addr) == 1)
		far_address.ss_family = AF_INET;
	else if (inet_pton(AF_INET6, far_host, &six->sin6_addr) == 1)
		far_address.ss_family = AF_INET6;
	else
		wrong_arguments(c, "address=%s is no address of IPv4 or IPv6", far_host);
}

/* Has the far end started; whether it was asked for. */
static inline int ask_for_far_end(struct context *c)
{
	struct sockaddr_un channel = {.sun_family = AF_UNIX};
	const char *name = parameter(c, "channel", "");
	size_t length = strlen(name);
	if (length >= sizeof channel.sun_path)
		wrong_arguments(c, "channel=%s is too long for a socket", name);
	memcpy(channel.sun_path + 1, name, length);
	says[READS] = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (says[READS] >= 0 && connect(says[READS], (struct sockaddr *)&channel, (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + length)) == 0 &&
	    writes_all(says[READS], token, sizeof token))
		return 1;
	failed(c, "channel");
	return 0;
}

/* This process is one of the two ends; it returns at the near one alone. */
static inline int meet_peer(struct context *c, void (*serve)(void))
{
	read_far_address(c);
	if (!is_far(c))
		return ask_for_far_end(c);
	says[WRITES] = STDOUT_FILENO;
	serve();
	_exit(0);
}

#endif
