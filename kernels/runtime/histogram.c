/* Histograms of latencies: exact below 128 ns, 64 buckets for each power of two above. */
#include <inttypes.h>

#include "runtime.h"

int add_to_histogram(struct histogram *h, uint64_t ns)
{
	int longest = h->count == 0 || ns > h->max;
	if (h->count == 0 || ns < h->min)
		h->min = ns;
	if (ns > h->max)
		h->max = ns;
	h->count++;
	h->sum += ns;
	unsigned bucket = (unsigned)ns;
	if (ns >= 128) {
		unsigned power = 63 - (unsigned)__builtin_clzll(ns);
		bucket = (power - 5) * 64 + (unsigned)(ns >> (power - 6)) - 64;
	}
	h->bucket[bucket]++;
	return longest;
}

int record(struct context *c, uint64_t start_ns, uint64_t end_ns)
{
	return c->latency == NULL ? 0 : add_to_histogram(c->latency, end_ns - start_ns);
}

void line_histogram(const struct histogram *h)
{
	const char *comma = "";
	line("count=%" PRIu64 " min=%" PRIu64 " max=%" PRIu64 " sum=%" PRIu64 " buckets=", h->count, h->min, h->max, h->sum);
	for (int i = 0; i < HISTOGRAM_BUCKETS; i++)
		if (h->bucket[i] != 0) {
			line("%s%d:%" PRIu64, comma, i, h->bucket[i]);
			comma = ",";
		}
	end_line();
}
