/* The second process of a benchmark; its death interrupts blocking calls of the first. */
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

/* Runs serve() in a child. After its death blocking calls fail with EINTR, writes with EPIPE. */
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
