/* Response times by number of users and kind of transaction: a histogram each, in addition to that of all recorded operations. A histogram
 * is allocated when its kind first occurs, including the warm-up, so that measured regions do not allocate. */
#define _GNU_SOURCE
#include <string.h>

#include "runtime.h"

enum { MAX_KINDS = 128 };

static struct responses {
	uint64_t users;
	const char *kind;
	struct histogram *times;
} responses[MAX_KINDS];
static int kinds;

void respond(struct context *c, uint64_t users, const char *kind, uint64_t start_ns, uint64_t end_ns)
{
	int i = 0;
	while (i < kinds && (responses[i].users != users || strcmp(responses[i].kind, kind) != 0))
		i++;
	if (i == kinds) {
		if (kinds == MAX_KINDS) {
			failed_because(c, "respond", "more than %d kinds of responses", MAX_KINDS);
			return;
		}
		responses[kinds++] = (struct responses){users, kind, private_memory(sizeof *responses->times)};
		if (responses[i].times == NULL)
			failed(c, "mmap");
	}
	if (c->latency != NULL && responses[i].times != NULL)
		add_to_histogram(responses[i].times, end_ns - start_ns);
}

void line_responses(void)
{
	for (int i = 0; i < kinds; i++)
		if (responses[i].times != NULL && responses[i].times->count > 0) {
			line("latency users=%llu kind=%s ", (unsigned long long)responses[i].users, responses[i].kind);
			line_histogram(responses[i].times);
		}
}
