/* What went on during a latency: the longest stretch in it of which the trace of its CPU says nothing, and who had the CPU then.
 *
 * Who has the CPU cannot keep a handler from it, unless interrupts are off; who waits to run is kept from it by whoever does.
 * An interrupt, another process, this process itself (or the kernel on its behalf), or nobody: where the CPU was idle and
 * nothing happened on it, neither the system nor a program kept it, and that leaves the hardware and the host.
 */
#ifndef GRITSTONE_RT_LATENCY_CAUSE_H
#define GRITSTONE_RT_LATENCY_CAUSE_H

#include "trace.h"

/* The first events that a kernel asks for which explains anything. */
enum { SWITCHED, IRQ_BEGAN, IRQ_ENDED, EXPLAINING };

#define EXPLAINING_EVENTS \
	[SWITCHED] = {.event = "sched/sched_switch", .number = {"next_pid"}, .text = "next_comm"}, \
	[IRQ_BEGAN] = {.event = "irq/irq_handler_entry", .number = {"irq"}, .text = "name"}, \
	[IRQ_ENDED] = {.event = "irq/irq_handler_exit", .number = {"irq"}}

/* Says it, as `longest`: the latency in ns, a word for the cause, and a sentence. */
static inline void explain(struct context *c, uint64_t from, uint64_t to, int of_handler)
{
	const struct event *running = NULL, *interrupt = NULL, *who = NULL, *in = NULL, *next = NULL;
	uint64_t since = from, gap = 0;
	for (size_t i = 0; since < to && i <= trace.count; i++) {
		const struct event *e = i < trace.count ? &trace.events[i] : NULL;
		uint64_t at = e == NULL || e->ns > to ? to : e->ns;
		if (at > since && at - since > gap) {
			gap = at - since;
			who = running;
			in = interrupt;
			next = e;
		}
		if (at > since)
			since = at;
		if (e != NULL && e->kind == SWITCHED)
			running = e;
		if (e != NULL && (e->kind == IRQ_BEGAN || e->kind == IRQ_ENDED))
			interrupt = e->kind == IRQ_BEGAN ? e : NULL;
	}
	/* where nobody was switched to before: whom the next event found there */
	int pid = who != NULL ? (int)who->number[0] : next != NULL ? next->pid : (int)getpid();
	const char *cause = in != NULL ? "interrupt" : pid == 0 ? "host" : of_handler ? "masked" : pid == getpid() ? "itself" : "process";
	char what[160];
	if (in != NULL)
		snprintf(what, sizeof what, "interrupt %d (%s) had the CPU", (int)in->number[0], in->text);
	else if (pid == 0)
		snprintf(what, sizeof what, "the CPU was idle and nothing happened on it, which leaves the host or the hardware");
	else if (of_handler)
		snprintf(what, sizeof what, "process %d (%s) had the CPU with interrupts off, or the host had it", pid,
			 who != NULL ? who->text : "?");
	else if (pid == getpid())
		snprintf(what, sizeof what, "the kernel was at work for the process itself, or the host had the CPU");
	else
		snprintf(what, sizeof what, "process %d (%s) had the CPU", pid, who != NULL ? who->text : "?");
	note(c, "longest", "%llu %s for %.1f us of it %s", (unsigned long long)(to - from), cause, (double)gap / 1e3, what);
}

#endif
