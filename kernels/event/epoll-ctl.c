/* event/epoll-ctl: cost of adding, changing and removing a descriptor (epoll_ctl(2)).
 *
 * One operation is EPOLL_CTL_ADD, MOD and DEL of one of 64 eventfds, in turn. A server does the first and the last for every connection.
 */
#define _GNU_SOURCE
#include <sys/epoll.h>
#include <sys/eventfd.h>

#include "../runtime/kernel.h"

#define COUNT 64

static int epoll, descriptor[COUNT];

static void setup(struct context *c)
{
	epoll = epoll_create1(EPOLL_CLOEXEC);
	if (epoll < 0)
		failed(c, "epoll_create1");
	for (int i = 0; i < COUNT; i++)
		if ((descriptor[i] = eventfd(1, EFD_CLOEXEC)) < 0)
			failed(c, "eventfd");
}

static void run(struct context *c, uint64_t n, uint64_t *check)
{
	for (uint64_t i = 0; i < n; i++) {
		int d = descriptor[i % COUNT];
		struct epoll_event event = {.events = EPOLLOUT};
		if (epoll_ctl(epoll, EPOLL_CTL_ADD, d, &event) != 0) {
			failed(c, "epoll_ctl");
			return;
		}
		event.events = EPOLLIN;
		if (epoll_ctl(epoll, EPOLL_CTL_MOD, d, &event) != 0 || epoll_ctl(epoll, EPOLL_CTL_DEL, d, &event) != 0) {
			failed(c, "epoll_ctl");
			return;
		}
		++*check;
	}
}

/* All eventfds are ready, so none may be watched any more. */
static void finish(struct context *c, uint64_t n, uint64_t *check)
{
	struct epoll_event event[1];
	(void)n;
	int ready = epoll_wait(epoll, event, 1, 0);
	if (ready < 0)
		failed(c, "epoll_wait");
	*check += ready == 0;
}

static uint64_t expect(struct context *c, uint64_t n)
{
	(void)c;
	return n + 1;
}

const struct kernel kernel = {
	.name = "event/epoll-ctl",
	.setup = setup,
	.run = run,
	.finish = finish,
	.expect = expect,
};
