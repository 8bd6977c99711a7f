/* Response times of users, by how many users there are and by the kind of transaction: a histogram of each, beside the one of all
 * recorded operations. A histogram is made when its kind is first seen, in the warm-up too, so that nothing is allocated in a region later. */
#define _GNU_SOURCE
#include <string.h>

#include "runtime.h"

enum { MOST_KINDS = 128 };

static struct responses {
	uint64_t users;
	const char *kind;
	struct histogram *times;
} responses[MOST_KINDS];
static int kinds;

void respond(struct context *c, uint64_t users, const char *kind, uint64_t start_ns, uint64_t end_ns)
{
	int i = 0;
	while (i < kinds && (responses[i].users != users || strcmp(responses[i].kind, kind) != 0))
		i++;
	if (i == kinds) {
		if (kinds == MOST_KINDS) {
			failed_because(c, "respond", "more than %d kinds of responses", MOST_KINDS);
			return;
		}
		responses[kinds++] = (struct responses){users, kind, private_memory(sizeof *responses->times)};
		if (responses[i].times == NULL)
			failed(c, "mmap");
	}
	if (c->latency != NULL && responses[i].times != NULL)
		add_to(responses[i].times, end_ns - start_ns);
}

void line_responses(void)
{
	for (int i = 0; i < kinds; i++)
		if (responses[i].times != NULL && responses[i].times->count > 0) {
			line("latency users=%llu kind=%s ", (unsigned long long)responses[i].users, responses[i].kind);
			line_histogram(responses[i].times);
		}
}
