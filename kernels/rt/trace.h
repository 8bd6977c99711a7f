/* The kernel's own trace, read as a logic analyser was: which event, when (CLOCK_MONOTONIC, ns), on which CPU, by whom.
 *
 * trace= is the directory of a tracefs instance that is the run's own; whoever started us makes and removes it, or says in
 * untraced= why there is none. Its text has microseconds alone, so the ring buffer is read as it is. A page of it is a
 * time stamp, a length, and events, each of them a word (5 bits of length or kind, 27 of time since the one before) and its record; how
 * the records lie is read from the `format` of each event, and of the page from `header_page`.
 */
#ifndef GRITSTONE_RT_TRACE_H
#define GRITSTONE_RT_TRACE_H

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../runtime/kernel.h"

#define MOST_CPUS 1024
#define MOST_EVENTS (1u << 18)
#define ROOM_KB "16384" /* of the ring buffer of one CPU: 64 bytes, the size of a switch, for each of them */
#define MISSED (1u << 31) /* in the length of a page: events were lost before it */

/* An event that is asked for: "system/name", up to two numbers of its record and one text, NULL for none. */
struct wanted {
	const char *event, *number[2], *text;
	unsigned id;
	struct {
		size_t at, size;
		int far; /* what stands there says where the text lies */
	} field[3];
};

struct event {
	uint64_t ns, number[2];
	int32_t pid; /* who had the CPU */
	int kind;    /* index of what was asked for */
	int cpu;
	char text[16];
};

static struct {
	const char *directory;
	struct wanted *wanted;
	int kinds;
	int cpus, cpu[MOST_CPUS], pipe[MOST_CPUS];
	size_t page_size, data_at;
	unsigned char *page;
	struct event *events; /* of the last region, in the order of time */
	size_t count;
	int lost;
} trace;

static inline int trace_file(const char *name, int how)
{
	char path[PATH_MAX];
	snprintf(path, sizeof path, "%s/%s", trace.directory, name);
	return open(path, how | O_CLOEXEC);
}

static inline void trace_set(struct context *c, const char *name, const char *value)
{
	int file = trace_file(name, O_WRONLY | O_TRUNC);
	size_t length = strlen(value);
	if (file < 0 || (length > 0 && write(file, value, length) != (ssize_t)length))
		failed_because(c, name, "the trace cannot be set to '%s': %s", value, strerror(errno));
	if (file >= 0)
		close(file);
}

/* The line of a description that begins a field, from its offset on; NULL if there is none. */
static inline const char *trace_field(const char *text, const char *name)
{
	char end[64];
	snprintf(end, sizeof end, " %s;", name);
	const char *found = strstr(text, end);
	if (found == NULL) { /* an array: name[16] */
		snprintf(end, sizeof end, " %s[", name);
		found = strstr(text, end);
	}
	return found == NULL ? NULL : strstr(found, "offset:");
}

static inline int trace_read(const char *name, char *text, size_t room)
{
	int file = trace_file(name, O_RDONLY);
	ssize_t length = file < 0 ? -1 : read(file, text, room - 1);
	if (file >= 0)
		close(file);
	if (length < 0)
		return -1;
	text[length] = '\0';
	return 0;
}

static inline void trace_want(struct context *c, struct wanted *w)
{
	const char *names[3] = {w->number[0], w->number[1], w->text};
	char name[128], text[8192], *id;
	snprintf(name, sizeof name, "events/%s/format", w->event);
	if (trace_read(name, text, sizeof text) != 0 || (id = strstr(text, "ID: ")) == NULL) {
		skip(c, "this kernel does not trace %s; it takes one that does", w->event);
		return;
	}
	w->id = (unsigned)strtoul(id + 4, NULL, 10);
	for (int i = 0; i < 3; i++) {
		unsigned long at, size;
		if (names[i] == NULL)
			continue;
		const char *field = trace_field(text, names[i]);
		if (field == NULL || sscanf(field, "offset:%lu; size:%lu;", &at, &size) != 2) {
			failed_because(c, w->event, "its records have no field %s", names[i]);
			return;
		}
		w->field[i].at = at;
		w->field[i].size = size;
		const char *line = field;
		while (line > text && line[-1] != '\n')
			line--;
		w->field[i].far = strstr(line, "__data_loc") != NULL && strstr(line, "__data_loc") < field;
	}
	snprintf(name, sizeof name, "events/%s/enable", w->event);
	trace_set(c, name, "1");
}

static inline void trace_page_layout(struct context *c)
{
	char text[1024];
	const char *data;
	unsigned long at, size;
	if (trace_read("events/header_page", text, sizeof text) != 0 || (data = trace_field(text, "data")) == NULL ||
	    sscanf(data, "offset:%lu; size:%lu;", &at, &size) != 2) {
		failed_because(c, "header_page", "the layout of the trace cannot be read");
		return;
	}
	trace.data_at = at;
	trace.page_size = at + size;
	trace.page = malloc(trace.page_size);
	trace.events = calloc(MOST_EVENTS, sizeof *trace.events);
	if (trace.page == NULL || trace.events == NULL)
		failed(c, "malloc");
}

/* Opens the ring buffer of one CPU, or of all of them (-1). */
static inline void trace_pipes(struct context *c, int only)
{
	char name[64];
	for (int cpu = only < 0 ? 0 : only; cpu < MOST_CPUS && (only < 0 || cpu == only); cpu++) {
		snprintf(name, sizeof name, "per_cpu/cpu%d/trace_pipe_raw", cpu);
		int file = trace_file(name, O_RDONLY | O_NONBLOCK);
		if (file < 0 && only >= 0)
			failed(c, "trace_pipe_raw");
		if (file < 0)
			continue; /* numbers of CPUs may have holes */
		if (only >= 0) {
			snprintf(name, sizeof name, "per_cpu/cpu%d/buffer_size_kb", cpu);
			trace_set(c, name, ROOM_KB);
		}
		trace.cpu[trace.cpus] = cpu;
		trace.pipe[trace.cpus++] = file;
	}
}

/* Whether there is a trace to open. */
static inline int trace_is_there(const struct context *c)
{
	return parameter(c, "trace", NULL) != NULL;
}

/* Asks for events on one CPU, or on all of them (-1); nothing is traced yet. */
static inline void trace_open(struct context *c, struct wanted *wanted, int kinds, int cpu)
{
	trace.directory = parameter(c, "trace", NULL);
	if (trace.directory == NULL) {
		skip(c, "it is timed by the kernel's trace, and there is none: %s", parameter(c, "untraced", "none was made"));
		return;
	}
	trace.wanted = wanted;
	trace.kinds = kinds;
	trace_set(c, "tracing_on", "0");
	trace_set(c, "events/enable", "0"); /* what another launch that was killed wanted */
	trace_set(c, "trace_clock", "mono");
	trace_page_layout(c);
	for (int i = 0; i < kinds; i++)
		trace_want(c, &wanted[i]);
	trace_pipes(c, cpu);
}

static inline void trace_begin(struct context *c)
{
	trace_set(c, "trace", "");
	trace_set(c, "tracing_on", "1");
}

static inline uint64_t trace_number(const unsigned char *at, size_t size)
{
	uint64_t wide;
	uint32_t word;
	if (size == sizeof wide) {
		memcpy(&wide, at, sizeof wide);
		return wide;
	}
	memcpy(&word, at, sizeof word);
	return word;
}

static inline void trace_record(const unsigned char *record, size_t length, uint64_t ns, int cpu)
{
	uint16_t id;
	memcpy(&id, record, sizeof id);
	for (int kind = 0; kind < trace.kinds; kind++) {
		const struct wanted *w = &trace.wanted[kind];
		if (w->id != id)
			continue;
		if (trace.count == MOST_EVENTS) {
			trace.lost = 1;
			return;
		}
		struct event *e = &trace.events[trace.count++];
		*e = (struct event){.ns = ns, .kind = kind, .cpu = cpu};
		memcpy(&e->pid, record + 4, sizeof e->pid);
		for (int i = 0; i < 2; i++)
			if (w->number[i] != NULL && w->field[i].at + w->field[i].size <= length)
				e->number[i] = trace_number(record + w->field[i].at, w->field[i].size);
		if (w->text == NULL)
			return;
		size_t at = w->field[2].at;
		if (w->field[2].far)
			at = trace_number(record + at, sizeof(uint32_t)) & 0xffff;
		for (size_t i = 0; i < sizeof e->text - 1 && at + i < length && record[at + i] != '\0'; i++)
			e->text[i] = (char)record[at + i];
		return;
	}
}

static inline void trace_page(int cpu)
{
	uint64_t ns;
	uint32_t commit, word, high;
	memcpy(&ns, trace.page, sizeof ns);
	memcpy(&commit, trace.page + sizeof ns, sizeof commit); /* the low half of it, where bytes go from low to high */
	trace.lost |= (commit & MISSED) != 0;
	const unsigned char *data = trace.page + trace.data_at;
	size_t end = commit & 0xfffff;
	for (size_t at = 0; at + sizeof word <= end && trace.data_at + end <= trace.page_size;) {
		memcpy(&word, data + at, sizeof word);
		uint32_t kind = word & 31, delta = word >> 5;
		memcpy(&high, data + at + sizeof word, sizeof high); /* within the page, as the smallest event has 8 bytes */
		if (kind == 29) { /* nothing, to the end of the page or for so many bytes */
			if (delta == 0)
				return;
			ns += delta;
			at += sizeof word + high;
		} else if (kind == 30) { /* time alone */
			ns += ((uint64_t)high << 27) + delta;
			at += 2 * sizeof word;
		} else if (kind == 31) { /* all of the time, but for its highest bits */
			ns = (ns & ~(((uint64_t)1 << 59) - 1)) + ((uint64_t)high << 27) + delta;
			at += 2 * sizeof word;
		} else { /* a record, its length in words or in the word that follows */
			size_t skipped = sizeof word + (kind == 0 ? sizeof high : 0);
			size_t length = kind == 0 ? high - sizeof high : kind * sizeof word;
			ns += delta;
			if (at + skipped + length <= end)
				trace_record(data + at + skipped, length, ns, cpu);
			at += skipped + length;
		}
	}
}

static inline int trace_order(const void *a, const void *b)
{
	const struct event *x = a, *y = b;
	return x->ns < y->ns ? -1 : x->ns > y->ns;
}

/* Stops, and leaves what was traced since trace_begin in trace.events. */
static inline void trace_end(struct context *c)
{
	trace_set(c, "tracing_on", "0");
	trace.count = 0;
	trace.lost = 0;
	for (int i = 0; i < trace.cpus; i++)
		while (read(trace.pipe[i], trace.page, trace.page_size) > 0)
			trace_page(trace.cpu[i]);
	if (trace.cpus > 1)
		qsort(trace.events, trace.count, sizeof *trace.events, trace_order);
	if (trace.lost)
		failed_because(c, "trace", "the kernel traced more than its buffer holds, and lost events");
}

static inline void trace_close(struct context *c)
{
	trace_set(c, "events/enable", "0");
	for (int i = 0; i < trace.cpus; i++)
		close(trace.pipe[i]);
}

#endif
