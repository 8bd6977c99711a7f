/* The second process of a row, whose end is noticed wherever the first one waits. */
#ifndef GRITSTONE_IPC_PEER_H
#define GRITSTONE_IPC_PEER_H

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../runtime/kernel.h"

static volatile sig_atomic_t peer_died;
static pid_t peer;

static void on_child(int signal)
{
	(void)signal;
	peer_died = 1;
}

/* Starts serve() in a process of its own. Calls that wait for a peer that has died end with EINTR, and those that write to it
 * with EPIPE. */
static void start_peer(struct context *c, void (*serve)(void))
{
	struct sigaction action = {.sa_handler = on_child};
	signal(SIGPIPE, SIG_IGN);
	if (sigaction(SIGCHLD, &action, NULL) != 0) {
		failed(c, "sigaction");
		return;
	}
	peer = fork_peer(c);
	if (peer < 0)
		failed(c, "fork");
	if (peer != 0)
		return;
	serve();
	_exit(1);
}

static void stop_peer(struct context *c)
{
	signal(SIGCHLD, SIG_DFL);
	if (peer > 0 && (kill(peer, SIGKILL) != 0 || waitpid(peer, NULL, 0) != peer))
		failed(c, "waitpid");
}

#endif
