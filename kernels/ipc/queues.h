/* POSIX and System V message queues. Since they outlive their processes, a POSIX queue is unlinked as soon as it is open, and a System V
 * queue is created in an IPC namespace of its own. */
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

/* By syscall(2), since some C libraries have these in a separate library. Ten messages are the default limit. */
static int open_posix_queue(struct context *c, const char *which, size_t size)
{
	char name[64];
	struct mq_attr attributes = {.mq_maxmsg = 10, .mq_msgsize = (long)size};
	snprintf(name, sizeof name, "gritstone.%d.%s", (int)getpid(), which);
	int queue = (int)syscall(SYS_mq_open, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600, &attributes);
	if (queue >= 0 && syscall(SYS_mq_unlink, name) != 0)
		failed(c, "mq_unlink");
	if (queue >= 0)
		return queue;
	if (errno == ENOSYS)
		skip(c, "This kernel has no POSIX message queues: it was built without CONFIG_POSIX_MQUEUE.");
	else if (errno == EMFILE || errno == EINVAL)
		skip(c,
		     "A POSIX message queue of 10 messages of %zu bytes is not permitted (%s): raise fs.mqueue.msg_max, "
		     "fs.mqueue.msgsize_max and `ulimit -q`.",
		     size, strerror(errno));
	else
		failed(c, "mq_open");
	return -1;
}

static int open_posix_queues(struct context *c, struct end *end, size_t size)
{
	int forward = open_posix_queue(c, "there", size), backward = open_posix_queue(c, "back", size);
	end[0] = (struct end){forward, backward};
	end[1] = (struct end){backward, forward};
	return forward >= 0 && backward >= 0;
}

static int open_system_v_queues(struct context *c, struct end *end)
{
	if (unshare(CLONE_NEWIPC) != 0 && unshare(CLONE_NEWUSER | CLONE_NEWIPC) != 0) {
		skip(c,
		     "A System V queue needs an IPC namespace, which cannot be created here (%s): "
		     "run as root, or allow user namespaces.",
		     strerror(errno));
		return 0;
	}
	int forward = msgget(IPC_PRIVATE, 0600), backward = msgget(IPC_PRIVATE, 0600);
	if (forward < 0 || backward < 0)
		return fail_open(c, "msgget");
	end[0] = (struct end){forward, backward};
	end[1] = (struct end){backward, forward};
	return 1;
}

#endif
