/* A bidirectional channel between two processes, opened before the fork. */
#ifndef GRITSTONE_IPC_CHANNEL_H
#define GRITSTONE_IPC_CHANNEL_H

#include <string.h>

#include "descriptors.h"
#include "queues.h"

#define MAX_BYTES 65536

/* The type is for System V queues; all other carriers send the text alone. */
struct message {
	long type;
	char text[MAX_BYTES];
};

static struct channel {
	enum carrier { PIPES, SOCKETS, COUNTERS, POSIX_QUEUES, SYSTEM_V_QUEUES } carrier;
	int lossy; /* drops messages on overflow */
	struct end end[2];
} channel;

/* Opens a carrier by the name in by=, for messages of up to size bytes. Returns 0 on failure. */
static int open_channel(struct context *c, const char *name, size_t size)
{
	static const struct {
		const char *name;
		enum carrier carrier;
		int (*open)(struct context *, struct end *);
	} carriers[] = {
		{"pipe", PIPES, open_pipes},
		{"fifo", PIPES, open_fifos},
		{"unix", SOCKETS, open_unix_stream},
		{"unix-datagram", SOCKETS, open_unix_datagram},
		{"tcp", SOCKETS, open_tcp},
		{"udp", SOCKETS, open_udp},
		{"eventfd", COUNTERS, open_eventfds},
		{"posix-queue", POSIX_QUEUES, NULL},
		{"system-v-queue", SYSTEM_V_QUEUES, open_system_v_queues},
	};
	for (size_t i = 0; i < sizeof carriers / sizeof *carriers; i++) {
		if (strcmp(name, carriers[i].name) != 0)
			continue;
		channel.carrier = carriers[i].carrier;
		channel.lossy = carriers[i].open == open_udp;
		return carriers[i].open != NULL ? carriers[i].open(c, channel.end) : open_posix_queues(c, channel.end, size);
	}
	wrong_arguments(c, "unknown by=%s", name);
	return 0;
}

/* In each process: closes the other's descriptors, so that each detects the other's death. */
static void close_other_end(int side)
{
	struct end *other = &channel.end[1 - side];
	if (channel.carrier != PIPES && channel.carrier != SOCKETS)
		return; /* queues and counters are shared */
	close(other->out);
	if (channel.carrier == PIPES)
		close(other->in);
}

static inline int send_from(int side, struct message *m, size_t size)
{
	int out = channel.end[side].out;
	switch (channel.carrier) {
	case POSIX_QUEUES:
		return syscall(SYS_mq_timedsend, out, m->text, size, 0, NULL) == 0;
	case SYSTEM_V_QUEUES:
		return msgsnd(out, m, size, 0) == 0;
	default:
		return write(out, m->text, size) == (ssize_t)size;
	}
}

/* Receives a complete message of size bytes. Queues require a buffer of `capacity`. */
static inline int receive_at(int side, struct message *m, size_t size, size_t capacity)
{
	int in = channel.end[side].in;
	if (channel.carrier == POSIX_QUEUES)
		return syscall(SYS_mq_timedreceive, in, m->text, capacity, NULL, NULL) == (ssize_t)size;
	if (channel.carrier == SYSTEM_V_QUEUES)
		return msgrcv(in, m, capacity, 0, 0) == (ssize_t)size;
	for (size_t got = 0; got < size;) {
		ssize_t more = read(in, m->text + got, size - got);
		if (more <= 0)
			return 0;
		got += (size_t)more;
	}
	return 1;
}

#endif
