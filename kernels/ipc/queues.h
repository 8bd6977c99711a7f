/* Message queues of POSIX and of System V. Nothing removes either when its users die, so the name of the one is removed as soon
 * as it is open, and the other is made in a namespace that goes with its processes. */
#ifndef GRITSTONE_IPC_QUEUES_H
#define GRITSTONE_IPC_QUEUES_H

#include <errno.h>
#include <fcntl.h>
#include <mqueue.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "descriptors.h"

/* By the bare calls, since some C libraries keep them in a library of their own. Ten messages are what anyone may have. */
static int one_posix_queue(struct context *c, const char *which, size_t size)
{
	char name[64];
	struct mq_attr wanted = {.mq_maxmsg = 10, .mq_msgsize = (long)size};
	snprintf(name, sizeof name, "gritstone.%d.%s", (int)getpid(), which);
	int queue = (int)syscall(SYS_mq_open, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600, &wanted);
	if (queue >= 0 && syscall(SYS_mq_unlink, name) != 0)
		failed(c, "mq_unlink");
	if (queue >= 0)
		return queue;
	if (errno == ENOSYS)
		skip(c, "This kernel has no POSIX message queues: it was built without CONFIG_POSIX_MQUEUE.");
	else if (errno == EMFILE || errno == EINVAL)
		skip(c,
		     "No POSIX message queue of 10 messages of %zu bytes may be made (%s): raise fs.mqueue.msg_max, "
		     "fs.mqueue.msgsize_max and `ulimit -q`.",
		     size, strerror(errno));
	else
		failed(c, "mq_open");
	return -1;
}

static int make_posix_queue(struct context *c, struct end *end, size_t size)
{
	int there = one_posix_queue(c, "there", size), back = one_posix_queue(c, "back", size);
	end[0] = (struct end){there, back};
	end[1] = (struct end){back, there};
	return there >= 0 && back >= 0;
}

static int make_system_v_queue(struct context *c, struct end *end)
{
	if (unshare(CLONE_NEWIPC) != 0 && unshare(CLONE_NEWUSER | CLONE_NEWIPC) != 0) {
		skip(c,
		     "A System V queue outlives its users unless it is in a namespace of theirs, and none can be made here (%s): "
		     "run as root, or allow user namespaces.",
		     strerror(errno));
		return 0;
	}
	int there = msgget(IPC_PRIVATE, 0600), back = msgget(IPC_PRIVATE, 0600);
	if (there < 0 || back < 0)
		return cannot(c, "msgget");
	end[0] = (struct end){there, back};
	end[1] = (struct end){back, there};
	return 1;
}

#endif
