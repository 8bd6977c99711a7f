/* event/select, event/poll, event/epoll: cost of finding the one ready descriptor among many (lmbench has the first; POSIX, select() and
 * poll(); epoll_wait(2)).
 *
 * One operation is one call that waits for descriptors= eventfds, the last of which is ready, and the search in its result: select and poll
 * scan all descriptors, in the kernel and in the program, while epoll returns the ready one. The ready eventfd is not read, so it stays
 * ready, and an operation is one system call.
 */
#define _GNU_SOURCE
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/select.h>

#include "../runtime/kernel.h"

#define SPARE_DESCRIPTORS 32 /* further descriptors of the process */
#define EVENTS 16 /* maximum per epoll_wait */
#define BITS (sizeof(unsigned long) * CHAR_BIT)

static int *descriptor, count, epoll;
static size_t set_bytes;
static unsigned long *watched, *found; /* sets for select, possibly larger than an fd_set */
static struct pollfd *polled;
static int (*wait_for)(struct context *); /* returns the number of the ready descriptor, from 1; 0 on failure */

static int contains(const unsigned long *set, int d)
{
	return set[(size_t)d / BITS] >> (size_t)d % BITS & 1;
}

static int by_select(struct context *c)
{
	memcpy(found, watched, set_bytes);
	if (select(descriptor[count - 1] + 1, (fd_set *)(void *)found, NULL, NULL, NULL) != 1) {
		failed(c, "select");
		return 0;
	}
	for (int i = 0; i < count; i++)
		if (contains(found, descriptor[i]))
			return i + 1;
	return 0;
}

static int by_poll(struct context *c)
{
	if (poll(polled, (nfds_t)count, -1) != 1) {
		failed(c, "poll");
		return 0;
	}
	for (int i = 0; i < count; i++)
		if (polled[i].revents & POLLIN)
			return i + 1;
	return 0;
}

static int by_epoll(struct context *c)
{
	struct epoll_event event[EVENTS];
	if (epoll_wait(epoll, event, EVENTS, -1) != 1) {
		failed(c, "epoll_wait");
		return 0;
	}
	return event[0].data.fd;
}

static int raise_limit(struct context *c)
{
	struct rlimit limit;
	rlim_t needed = (rlim_t)count + SPARE_DESCRIPTORS;
	if (getrlimit(RLIMIT_NOFILE, &limit) != 0) {
		failed(c, "getrlimit");
		return 0;
	}
	if (limit.rlim_max != RLIM_INFINITY && limit.rlim_max < needed) {
		skip(c, "It takes %llu descriptors, and the hard limit is %llu: raise it as root (ulimit -Hn, or nofile in limits.conf).",
		     (unsigned long long)needed, (unsigned long long)limit.rlim_max);
		return 0;
	}
	if (limit.rlim_cur != RLIM_INFINITY && limit.rlim_cur < needed) {
		limit.rlim_cur = needed;
		if (setrlimit(RLIMIT_NOFILE, &limit) != 0) {
			failed(c, "setrlimit");
			return 0;
		}
	}
	return 1;
}

static void make_sets(struct context *c)
{
	set_bytes = ((size_t)descriptor[count - 1] / BITS + 1) * sizeof *watched;
	watched = calloc(1, set_bytes);
	found = calloc(1, set_bytes);
	polled = calloc((size_t)count, sizeof *polled);
	epoll = epoll_create1(EPOLL_CLOEXEC);
	if (watched == NULL || found == NULL || polled == NULL || epoll < 0) {
		failed(c, "calloc");
		return;
	}
	for (int i = 0; i < count; i++) {
		int d = descriptor[i];
		struct epoll_event event = {.events = EPOLLIN, .data.fd = i + 1};
		watched[(size_t)d / BITS] |= 1ul << (size_t)d % BITS;
		polled[i] = (struct pollfd){.fd = d, .events = POLLIN};
		if (wait_for == by_epoll && epoll_ctl(epoll, EPOLL_CTL_ADD, d, &event) != 0) {
			failed(c, "epoll_ctl");
			return;
		}
	}
}

static void setup(struct context *c)
{
	const char *by = parameter(c, "by", "");
	uint64_t requested = parameter_u64(c, "descriptors", 0);
	wait_for = strcmp(by, "select") == 0 ? by_select : strcmp(by, "poll") == 0 ? by_poll : strcmp(by, "epoll") == 0 ? by_epoll : NULL;
	if (wait_for == NULL || requested < 1 || requested > 1 << 20)
		wrong_arguments(c, "by=%s is not select, poll or epoll, or descriptors=%llu are not 1 to %d", by,
			       (unsigned long long)requested, 1 << 20);
	count = (int)requested;
	if (!raise_limit(c))
		return;
	descriptor = calloc((size_t)count, sizeof *descriptor);
	for (int i = 0; descriptor != NULL && i < count; i++)
		if ((descriptor[i] = eventfd(i == count - 1, EFD_CLOEXEC)) < 0) {
			failed(c, "eventfd");
			return;
		}
	if (descriptor == NULL)
		failed(c, "calloc");
	else
		make_sets(c);
}

static void run(struct context *c, uint64_t n, uint64_t *check)
{
	for (uint64_t i = 0; i < n; i++) {
		int ready = wait_for(c);
		if (ready == 0)
			return;
		*check += (uint64_t)ready;
	}
}

static uint64_t expect(struct context *c, uint64_t n)
{
	(void)c;
	return n * (uint64_t)count;
}

const struct kernel kernel = {.name = "event/wait", .setup = setup, .run = run, .expect = expect};
