/* Clients of a database that work at once: processes, each with its connection, that take the transactions of a region one by one.
 *
 * A region is opened with a number of transactions, and has ended when all are done. Closed loop: a client takes the next one as soon as it has
 * done its last. Open loop: each transaction is due at a time that does not depend on the others, and its response counts from then, also
 * where all clients were busy. Clients tell their times, and why they gave up, in memory that they share.
 */
#ifndef GRITSTONE_DB_CLIENTS_H
#define GRITSTONE_DB_CLIENTS_H

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../runtime/futex.h"
#include "../runtime/kernel.h"

enum { MOST_CLIENTS = 256, MOST_TRANSACTIONS = 1 << 18 };

static struct crew {
	_Atomic uint32_t opened, ready, ended; /* regions, clients that are connected, clients that found nothing more to do */
	_Atomic uint64_t taken, right;         /* transactions of the region; those whose answers were right */
	_Atomic uint32_t at_work;              /* clients that take part, the first of all */
	uint64_t transactions, begun_ns, due_ns;      /* of the region; mean interval between those that are due, 0: closed loop */
	char why[256];                         /* a client gave up */
	struct {
		uint64_t start, end;
	} times[MOST_TRANSACTIONS];
	uint64_t due[MOST_TRANSACTIONS]; /* ns after the beginning */
} *crew;

static int crew_size, crew_last;
static pid_t crew_pid[MOST_CLIENTS];

/* Does one transaction; whether its answers were right. -1, after `crew->why` was written, when it cannot go on. */
static int crew_work(int client);

/* Connects; whether it could. */
static int crew_begin(struct context *c, int client);

/* What the last client does in a region in place of transactions; whether it could. NULL: it does transactions. */
static int (*crew_upkeep)(void);

static void crew_wait(_Atomic uint32_t *word, uint32_t value)
{
	const long longest[2] = {0, 100000000}; /* s, ns: the kernel's own struct timespec */
	futex(word, FUTEX_WAIT, value, longest);
}

static void crew_sleep_until(uint64_t ns)
{
	for (uint64_t now; (now = now_ns()) < ns;) {
		const struct timespec span = {(time_t)((ns - now) / 1000000000), (long)((ns - now) % 1000000000)};
		nanosleep(&span, NULL);
	}
}

static void crew_region(int client)
{
	if (crew_upkeep != NULL && client == crew_last) {
		if (!crew_upkeep())
			_exit(1);
		return;
	}
	for (;;) {
		uint64_t at = atomic_fetch_add(&crew->taken, 1);
		if (at >= crew->transactions)
			return;
		uint64_t start = now_ns();
		if (crew->due_ns > 0) {
			start = crew->begun_ns + crew->due[at];
			crew_sleep_until(start);
		}
		int right = crew_work(client);
		if (right < 0)
			_exit(1);
		crew->times[at].start = start;
		crew->times[at].end = now_ns();
		crew->right += (uint64_t)right;
	}
}

static _Noreturn void be_client(struct context *c, int client)
{
	prctl(PR_SET_TIMERSLACK, 1);
	if (!crew_begin(c, client))
		_exit(1);
	crew->ready++;
	futex_wake_all(&crew->ready);
	for (uint32_t seen = 0;;) {
		uint32_t opened;
		while ((opened = crew->opened) == seen)
			crew_wait(&crew->opened, seen);
		seen = opened;
		if ((uint32_t)client >= crew->at_work)
			continue;
		crew_region(client);
		crew->ended++;
		futex_wake_all(&crew->ended);
	}
}

/* Waits until so many have said so; whether all live. */
static int crew_await(struct context *c, _Atomic uint32_t *word, uint32_t number)
{
	for (uint32_t value; (value = *word) < number;) {
		crew_wait(word, value);
		for (int i = 0; i < crew_size; i++)
			if (waitpid(crew_pid[i], NULL, WNOHANG) != 0) {
				failed_because(c, "client", "%s", crew->why[0] != '\0' ? crew->why : "it has ended");
				return 0;
			}
	}
	return 1;
}

/* Starts the clients. Whether all are connected. */
static int crew_start(struct context *c, int size)
{
	crew = mmap(NULL, sizeof *crew, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (crew == MAP_FAILED) {
		failed(c, "mmap");
		return 0;
	}
	crew_last = size - 1;
	for (; crew_size < size; crew_size++) {
		pid_t pid = fork_peer(c);
		if (pid == 0)
			be_client(c, crew_size);
		if (pid < 0) {
			failed(c, "fork");
			return 0;
		}
		crew_pid[crew_size] = pid;
	}
	return crew_await(c, &crew->ready, (uint32_t)size);
}

/* Does a number of transactions with the first clients; how many were right. */
static uint64_t crew_do(struct context *c, int clients, uint64_t transactions)
{
	crew->taken = crew->right = 0;
	crew->ended = 0;
	crew->at_work = (uint32_t)clients;
	crew->transactions = transactions;
	crew->begun_ns = now_ns();
	crew->opened++;
	futex_wake_all(&crew->opened);
	return crew_await(c, &crew->ended, (uint32_t)clients) ? crew->right : 0;
}

/* When the transactions of an open loop are due: at random, as those of many people who know nothing of each other are. */
static void crew_plan(uint64_t transactions)
{
	double at = 0;
	for (uint64_t i = 0; i < transactions; i++) {
		at -= log((drawn(1 << 30) + 1.0) / (1 << 30)) * (double)crew->due_ns;
		crew->due[i] = (uint64_t)at;
	}
}

static void crew_stop(void)
{
	for (int i = 0; i < crew_size; i++) {
		kill(crew_pid[i], SIGKILL);
		waitpid(crew_pid[i], NULL, 0);
	}
}

#endif
