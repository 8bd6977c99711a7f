/* Two processes and a way between them in both directions, opened before there is a second one. */
#ifndef GRITSTONE_IPC_CHANNEL_H
#define GRITSTONE_IPC_CHANNEL_H

#include <string.h>

#include "descriptors.h"
#include "queues.h"

#define MOST_BYTES 65536

/* As System V queues want it; all others take the text. */
struct message {
	long type;
	char text[MOST_BYTES];
};

static struct channel {
	enum carrier { PIPES, SOCKETS, COUNTERS, POSIX_QUEUES, SYSTEM_V_QUEUES } carrier;
	int lossy; /* what comes faster than it is read is lost */
	struct end end[2];
} channel;

/* By its name in the catalogue, for messages of up to size bytes. Returns whether it could be opened. */
static int open_channel(struct context *c, const char *name, size_t size)
{
	static const struct {
		const char *name;
		enum carrier carrier;
		int (*make)(struct context *, struct end *);
	} ways[] = {
		{"pipe", PIPES, make_pipe},
		{"fifo", PIPES, make_fifo},
		{"unix", SOCKETS, make_unix_stream},
		{"unix-datagram", SOCKETS, make_unix_datagram},
		{"tcp", SOCKETS, make_tcp},
		{"udp", SOCKETS, make_udp},
		{"eventfd", COUNTERS, make_eventfd},
		{"posix-queue", POSIX_QUEUES, NULL},
		{"system-v-queue", SYSTEM_V_QUEUES, make_system_v_queue},
	};
	for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
		if (strcmp(name, ways[i].name) != 0)
			continue;
		channel.carrier = ways[i].carrier;
		channel.lossy = ways[i].make == make_udp;
		return ways[i].make != NULL ? ways[i].make(c, channel.end) : make_posix_queue(c, channel.end, size);
	}
	wrong_arguments(c, "by=%s is no way between processes that is known here", name);
	return 0;
}

/* In each of the processes: what the other uses alone is closed, so that each sees when the other has ended. */
static void keep_end(int own)
{
	struct end *other = &channel.end[1 - own];
	if (channel.carrier != PIPES && channel.carrier != SOCKETS)
		return; /* queues and counters are the same for both */
	close(other->out);
	if (channel.carrier == PIPES)
		close(other->in);
}

static inline int send_from(int own, struct message *m, size_t size)
{
	int out = channel.end[own].out;
	switch (channel.carrier) {
	case POSIX_QUEUES:
		return syscall(SYS_mq_timedsend, out, m->text, size, 0, NULL) == 0;
	case SYSTEM_V_QUEUES:
		return msgsnd(out, m, size, 0) == 0;
	default:
		return write(out, m->text, size) == (ssize_t)size;
	}
}

/* A message of size bytes, whole; of a stream in as many pieces as it comes in. A queue must be offered room for `most`. */
static inline int receive_at(int own, struct message *m, size_t size, size_t most)
{
	int in = channel.end[own].in;
	if (channel.carrier == POSIX_QUEUES)
		return syscall(SYS_mq_timedreceive, in, m->text, most, NULL, NULL) == (ssize_t)size;
	if (channel.carrier == SYSTEM_V_QUEUES)
		return msgrcv(in, m, most, 0, 0) == (ssize_t)size;
	for (size_t got = 0; got < size;) {
		ssize_t more = read(in, m->text + got, size - got);
		if (more <= 0)
			return 0;
		got += (size_t)more;
	}
	return 1;
}

#endif
