/* Reader of the kernel's trace: event, time (CLOCK_MONOTONIC, ns), CPU, current process.
 *
 * trace= is the directory of a private tracefs instance, which the harness creates and removes; untraced= is the reason if there is none.
 * The text format has only microseconds, so this reads the binary ring buffer. A page is a time stamp, a length, and events, each of them a
 * word (5 bits of length or type, 27 of time since the previous event) and a record; the layout of records comes from the `format` of each
 * event, that of the page from `header_page`.
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

#define MAX_TRACE_CPUS 1024
#define MAX_EVENTS (1u << 18)
#define BUFFER_KB "16384" /* ring buffer per CPU: MAX_EVENTS of 64 bytes, the size of a sched_switch */
#define MISSED (1u << 31) /* flag in the length of a page: events were lost before it */

/* An event to trace: "system/name", up to two numeric fields and one text field, NULL for none. */
struct event_spec {
	const char *event, *number[2], *text;
	unsigned id;
	struct {
		size_t offset, size;
		int is_data_loc; /* the field holds the offset of the text */
	} field[3];
};

struct event {
	uint64_t ns, number[2];
	int32_t pid; /* current process */
	int kind; /* index of the event spec */
	int cpu;
	char text[16];
};

static struct {
	const char *directory;
	struct event_spec *event_spec;
	int kinds;
	int cpus, cpu[MAX_TRACE_CPUS], pipe[MAX_TRACE_CPUS];
	size_t page_size, data_offset;
	unsigned char *page;
	struct event *events; /* of the last region, sorted by time */
	size_t count;
	int lost;
} trace;

static inline int trace_file(const char *name, int flags)
{
	char path[PATH_MAX];
	snprintf(path, sizeof path, "%s/%s", trace.directory, name);
	return open(path, flags | O_CLOEXEC);
}

static inline void trace_set(struct context *c, const char *name, const char *value)
{
	int file = trace_file(name, O_WRONLY | O_TRUNC);
	size_t length = strlen(value);
	if (file < 0 || (length > 0 && write(file, value, length) != (ssize_t)length))
		failed_because(c, name, "cannot write '%s' to the trace: %s", value, strerror(errno));
	if (file >= 0)
		close(file);
}

/* The text from a field's "offset:" on; NULL if there is no such field. */
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

static inline int trace_read(const char *name, char *text, size_t size)
{
	int file = trace_file(name, O_RDONLY);
	ssize_t length = file < 0 ? -1 : read(file, text, size - 1);
	if (file >= 0)
		close(file);
	if (length < 0)
		return -1;
	text[length] = '\0';
	return 0;
}

static inline void trace_enable(struct context *c, struct event_spec *w)
{
	const char *names[3] = {w->number[0], w->number[1], w->text};
	char name[128], text[8192], *id;
	snprintf(name, sizeof name, "events/%s/format", w->event);
	if (trace_read(name, text, sizeof text) != 0 || (id = strstr(text, "ID: ")) == NULL) {
		skip(c, "this kernel does not trace %s; a kernel that does is required", w->event);
		return;
	}
	w->id = (unsigned)strtoul(id + 4, NULL, 10);
	for (int i = 0; i < 3; i++) {
		unsigned long offset, size;
		if (names[i] == NULL)
			continue;
		const char *field = trace_field(text, names[i]);
		if (field == NULL || sscanf(field, "offset:%lu; size:%lu;", &offset, &size) != 2) {
			failed_because(c, w->event, "its records have no field %s", names[i]);
			return;
		}
		w->field[i].offset = offset;
		w->field[i].size = size;
		const char *line = field;
		while (line > text && line[-1] != '\n')
			line--;
		w->field[i].is_data_loc = strstr(line, "__data_loc") != NULL && strstr(line, "__data_loc") < field;
	}
	snprintf(name, sizeof name, "events/%s/enable", w->event);
	trace_set(c, name, "1");
}

static inline void trace_page_layout(struct context *c)
{
	char text[1024];
	const char *data;
	unsigned long offset, size;
	if (trace_read("events/header_page", text, sizeof text) != 0 || (data = trace_field(text, "data")) == NULL ||
	    sscanf(data, "offset:%lu; size:%lu;", &offset, &size) != 2) {
		failed_because(c, "header_page", "the layout of the trace cannot be read");
		return;
	}
	trace.data_offset = offset;
	trace.page_size = offset + size;
	trace.page = malloc(trace.page_size);
	trace.events = calloc(MAX_EVENTS, sizeof *trace.events);
	if (trace.page == NULL || trace.events == NULL)
		failed(c, "malloc");
}

/* Opens the ring buffer of one CPU, or of all of them (-1). */
static inline void trace_pipes(struct context *c, int only)
{
	char name[64];
	for (int cpu = only < 0 ? 0 : only; cpu < MAX_TRACE_CPUS && (only < 0 || cpu == only); cpu++) {
		snprintf(name, sizeof name, "per_cpu/cpu%d/trace_pipe_raw", cpu);
		int file = trace_file(name, O_RDONLY | O_NONBLOCK);
		if (file < 0 && only >= 0)
			failed(c, "trace_pipe_raw");
		if (file < 0)
			continue; /* CPU numbers may have gaps */
		if (only >= 0) {
			snprintf(name, sizeof name, "per_cpu/cpu%d/buffer_size_kb", cpu);
			trace_set(c, name, BUFFER_KB);
		}
		trace.cpu[trace.cpus] = cpu;
		trace.pipe[trace.cpus++] = file;
	}
}

static inline int trace_available(const struct context *c)
{
	return parameter(c, "trace", NULL) != NULL;
}

/* Enables events on one CPU, or on all (-1); tracing stays off. */
static inline void trace_open(struct context *c, struct event_spec *event_spec, int kinds, int cpu)
{
	trace.directory = parameter(c, "trace", NULL);
	if (trace.directory == NULL) {
		skip(c, "it requires the kernel's trace, which is unavailable: %s", parameter(c, "untraced", "none was made"));
		return;
	}
	trace.event_spec = event_spec;
	trace.kinds = kinds;
	trace_set(c, "tracing_on", "0");
	trace_set(c, "events/enable", "0"); /* left by a killed launch */
	trace_set(c, "trace_clock", "mono");
	trace_page_layout(c);
	for (int i = 0; i < kinds; i++)
		trace_enable(c, &event_spec[i]);
	trace_pipes(c, cpu);
}

static inline void trace_begin(struct context *c)
{
	trace_set(c, "trace", "");
	trace_set(c, "tracing_on", "1");
}

static inline uint64_t trace_number(const unsigned char *offset, size_t size)
{
	uint64_t wide;
	uint32_t word;
	if (size == sizeof wide) {
		memcpy(&wide, offset, sizeof wide);
		return wide;
	}
	memcpy(&word, offset, sizeof word);
	return word;
}

static inline void trace_record(const unsigned char *record, size_t length, uint64_t ns, int cpu)
{
	uint16_t id;
	memcpy(&id, record, sizeof id);
	for (int kind = 0; kind < trace.kinds; kind++) {
		const struct event_spec *w = &trace.event_spec[kind];
		if (w->id != id)
			continue;
		if (trace.count == MAX_EVENTS) {
			trace.lost = 1;
			return;
		}
		struct event *e = &trace.events[trace.count++];
		*e = (struct event){.ns = ns, .kind = kind, .cpu = cpu};
		memcpy(&e->pid, record + 4, sizeof e->pid);
		for (int i = 0; i < 2; i++)
			if (w->number[i] != NULL && w->field[i].offset + w->field[i].size <= length)
				e->number[i] = trace_number(record + w->field[i].offset, w->field[i].size);
		if (w->text == NULL)
			return;
		size_t offset = w->field[2].offset;
		if (w->field[2].is_data_loc)
			offset = trace_number(record + offset, sizeof(uint32_t)) & 0xffff;
		for (size_t i = 0; i < sizeof e->text - 1 && offset + i < length && record[offset + i] != '\0'; i++)
			e->text[i] = (char)record[offset + i];
		return;
	}
}

static inline void trace_page(int cpu)
{
	uint64_t ns;
	uint32_t commit, word, high;
	memcpy(&ns, trace.page, sizeof ns);
	memcpy(&commit, trace.page + sizeof ns, sizeof commit); /* low half, on little-endian machines */
	trace.lost |= (commit & MISSED) != 0;
	const unsigned char *data = trace.page + trace.data_offset;
	size_t end = commit & 0xfffff;
	for (size_t offset = 0; offset + sizeof word <= end && trace.data_offset + end <= trace.page_size;) {
		memcpy(&word, data + offset, sizeof word);
		uint32_t kind = word & 31, delta = word >> 5;
		memcpy(&high, data + offset + sizeof word, sizeof high); /* stays within the page: events have at least 8 bytes */
		if (kind == 29) { /* padding, to the end of the page or of a given length */
			if (delta == 0)
				return;
			ns += delta;
			offset += sizeof word + high;
		} else if (kind == 30) { /* extended time delta */
			ns += ((uint64_t)high << 27) + delta;
			offset += 2 * sizeof word;
		} else if (kind == 31) { /* absolute time without its highest bits */
			ns = (ns & ~(((uint64_t)1 << 59) - 1)) + ((uint64_t)high << 27) + delta;
			offset += 2 * sizeof word;
		} else { /* record, its length in words or in the next word */
			size_t skipped = sizeof word + (kind == 0 ? sizeof high : 0);
			size_t length = kind == 0 ? high - sizeof high : kind * sizeof word;
			ns += delta;
			if (offset + skipped + length <= end)
				trace_record(data + offset + skipped, length, ns, cpu);
			offset += skipped + length;
		}
	}
}

static inline int trace_order(const void *a, const void *b)
{
	const struct event *x = a, *y = b;
	return x->ns < y->ns ? -1 : x->ns > y->ns;
}

/* Stops tracing; trace.events holds the events since trace_begin(). */
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
		failed_because(c, "trace", "the trace buffer overflowed, and events were lost");
}

static inline void trace_close(struct context *c)
{
	trace_set(c, "events/enable", "0");
	for (int i = 0; i < trace.cpus; i++)
		close(trace.pipe[i]);
}

#endif
