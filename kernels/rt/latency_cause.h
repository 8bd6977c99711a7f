/* Cause of a latency: the longest interval in it without trace events on its CPU, and the owner of the CPU then.
 *
 * A running process delays a handler only with interrupts off; it delays any process that waits to run. The cause is an interrupt, another
 * process, this process (or the kernel on its behalf), or, if the CPU was idle without events, the hardware or the host.
 */
#ifndef GRITSTONE_RT_LATENCY_CAUSE_H
#define GRITSTONE_RT_LATENCY_CAUSE_H

#include "trace.h"

/* These events come first in the event specs of a workload. */
enum { SWITCH, IRQ_ENTRY, IRQ_EXIT, CAUSE_EVENTS };

#define CAUSE_EVENT_SPECS \
	[SWITCH] = {.event = "sched/sched_switch", .number = {"next_pid"}, .text = "next_comm"}, \
	[IRQ_ENTRY] = {.event = "irq/irq_handler_entry", .number = {"irq"}, .text = "name"}, \
	[IRQ_EXIT] = {.event = "irq/irq_handler_exit", .number = {"irq"}}

/* Notes as `longest`: the latency in ns, a keyword for the cause, and a sentence. */
static inline void note_latency_cause(struct context *c, uint64_t from, uint64_t to, int is_driver)
{
	const struct event *running = NULL, *active_irq = NULL, *owner = NULL, *irq = NULL, *next = NULL;
	uint64_t last_ns = from, gap = 0;
	for (size_t i = 0; last_ns < to && i <= trace.count; i++) {
		const struct event *e = i < trace.count ? &trace.events[i] : NULL;
		uint64_t event_ns = e == NULL || e->ns > to ? to : e->ns;
		if (event_ns > last_ns && event_ns - last_ns > gap) {
			gap = event_ns - last_ns;
			owner = running;
			irq = active_irq;
			next = e;
		}
		if (event_ns > last_ns)
			last_ns = event_ns;
		if (e != NULL && e->kind == SWITCH)
			running = e;
		if (e != NULL && (e->kind == IRQ_ENTRY || e->kind == IRQ_EXIT))
			active_irq = e->kind == IRQ_ENTRY ? e : NULL;
	}
	/* without an earlier switch: the process of the next event */
	int pid = owner != NULL ? (int)owner->number[0] : next != NULL ? next->pid : (int)getpid();
	const char *cause = irq != NULL ? "interrupt" : pid == 0 ? "host" : is_driver ? "masked" : pid == getpid() ? "itself" : "process";
	char what[160];
	if (irq != NULL)
		snprintf(what, sizeof what, "interrupt %d (%s) had the CPU", (int)irq->number[0], irq->text);
	else if (pid == 0)
		snprintf(what, sizeof what, "the CPU was idle and nothing happened on it, which leaves the host or the hardware");
	else if (is_driver)
		snprintf(what, sizeof what, "process %d (%s) had the CPU with interrupts off, or the host had it", pid,
			 owner != NULL ? owner->text : "?");
	else if (pid == getpid())
		snprintf(what, sizeof what, "the kernel was at work for the process itself, or the host had the CPU");
	else
		snprintf(what, sizeof what, "process %d (%s) had the CPU", pid, owner != NULL ? owner->text : "?");
	note(c, "longest", "%llu %s for %.1f us of it %s", (unsigned long long)(to - from), cause, (double)gap / 1e3, what);
}

#endif
