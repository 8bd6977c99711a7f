/* Concurrent database clients: processes with one connection each, which share the transactions of a region.
 *
 * A region has a number of transactions, and ends when all are complete. Closed loop: a client starts its next transaction when the last is
 * complete. Open loop: transactions have due times, and response time counts from the due time, even if all clients were busy (no
 * coordinated omission). Clients report times and errors in shared memory.
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

enum { MAX_CLIENTS = 256, MAX_TRANSACTIONS = 1 << 18 };

static struct pool {
	_Atomic uint32_t region, ready, finished; /* number of the region, connected clients, clients that have finished the region */
	_Atomic uint64_t next, correct;         /* transactions of the region: started, and with correct results */
	_Atomic uint32_t active;              /* the first clients take part */
	uint64_t transactions, start_ns, mean_interval_ns;      /* of the region; mean_interval_ns 0: closed loop */
	char error[256];                         /* of a failed client */
	struct {
		uint64_t start, end;
	} times[MAX_TRANSACTIONS];
	uint64_t due[MAX_TRANSACTIONS]; /* ns after start_ns */
} *pool;

static int pool_size, last_client;
static pid_t client_pid[MAX_CLIENTS];

/* Returns whether the results were correct; -1 on failure, with pool->error set. */
static int do_transaction(int client);

/* Returns 0 on failure. */
static int connect_client(struct context *c, int client);

/* Job of the last client in place of transactions, or NULL. Returns 0 on failure. */
static int (*last_client_job)(void);

static void pool_wait(_Atomic uint32_t *word, uint32_t value)
{
	const long longest[2] = {0, 100000000}; /* s, ns: the kernel's struct timespec */
	futex(word, FUTEX_WAIT, value, longest);
}

static void sleep_until(uint64_t ns)
{
	for (uint64_t now; (now = now_ns()) < ns;) {
		const struct timespec span = {(time_t)((ns - now) / 1000000000), (long)((ns - now) % 1000000000)};
		nanosleep(&span, NULL);
	}
}

static void run_region(int client)
{
	if (last_client_job != NULL && client == last_client) {
		if (!last_client_job())
			_exit(1);
		return;
	}
	for (;;) {
		uint64_t index = atomic_fetch_add(&pool->next, 1);
		if (index >= pool->transactions)
			return;
		uint64_t start = now_ns();
		if (pool->mean_interval_ns > 0) {
			start = pool->start_ns + pool->due[index];
			sleep_until(start);
		}
		int correct = do_transaction(client);
		if (correct < 0)
			_exit(1);
		pool->times[index].start = start;
		pool->times[index].end = now_ns();
		pool->correct += (uint64_t)correct;
	}
}

static _Noreturn void run_client(struct context *c, int client)
{
	prctl(PR_SET_TIMERSLACK, 1);
	if (!connect_client(c, client))
		_exit(1);
	pool->ready++;
	futex_wake_all(&pool->ready);
	for (uint32_t seen = 0;;) {
		uint32_t region;
		while ((region = pool->region) == seen)
			pool_wait(&pool->region, seen);
		seen = region;
		if ((uint32_t)client >= pool->active)
			continue;
		run_region(client);
		pool->finished++;
		futex_wake_all(&pool->finished);
	}
}

/* Waits until a counter reaches a value. Returns 0 if a client has exited. */
static int await_clients(struct context *c, _Atomic uint32_t *word, uint32_t number)
{
	for (uint32_t value; (value = *word) < number;) {
		pool_wait(word, value);
		for (int i = 0; i < pool_size; i++)
			if (waitpid(client_pid[i], NULL, WNOHANG) != 0) {
				failed_because(c, "client", "%s", pool->error[0] != '\0' ? pool->error : "it has exited");
				return 0;
			}
	}
	return 1;
}

/* Returns when all clients are connected; 0 on failure. */
static int start_clients(struct context *c, int size)
{
	pool = mmap(NULL, sizeof *pool, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (pool == MAP_FAILED) {
		failed(c, "mmap");
		return 0;
	}
	last_client = size - 1;
	for (; pool_size < size; pool_size++) {
		pid_t pid = fork_peer(c);
		if (pid == 0)
			run_client(c, pool_size);
		if (pid < 0) {
			failed(c, "fork");
			return 0;
		}
		client_pid[pool_size] = pid;
	}
	return await_clients(c, &pool->ready, (uint32_t)size);
}

/* Runs transactions on the first clients. Returns the number of correct ones. */
static uint64_t run_transactions(struct context *c, int clients, uint64_t transactions)
{
	pool->next = pool->correct = 0;
	pool->finished = 0;
	pool->active = (uint32_t)clients;
	pool->transactions = transactions;
	pool->start_ns = now_ns();
	pool->region++;
	futex_wake_all(&pool->region);
	return await_clients(c, &pool->finished, (uint32_t)clients) ? pool->correct : 0;
}

/* Due times of an open loop: Poisson arrivals, as from many independent users. */
static void schedule_arrivals(uint64_t transactions)
{
	double due_ns = 0;
	for (uint64_t i = 0; i < transactions; i++) {
		due_ns -= log((random_below(1 << 30) + 1.0) / (1 << 30)) * (double)pool->mean_interval_ns;
		pool->due[i] = (uint64_t)due_ns;
	}
}

static void stop_clients(void)
{
	for (int i = 0; i < pool_size; i++) {
		kill(client_pid[i], SIGKILL);
		waitpid(client_pid[i], NULL, 0);
	}
}

#endif
