/* A circuit: its netlist for a seed, and the judgment of the voltages that a simulator found. */
#ifndef GRITSTONE_APP_ANALOG_H
#define GRITSTONE_APP_ANALOG_H

#include <math.h>

#include "simulations.h"
#include "table.h"

struct circuit {
	const char *name;
	double step, stop; /* of what is printed, s */
	void (*write)(FILE *netlist, uint64_t seed);
	void (*judge)(struct context *c, const struct table *t, int rows, uint64_t seed);
};

/* A part of the seed, from 0 to below 1. */
static inline double fraction(uint64_t seed)
{
	return (double)(seed >> 11) / 9007199254740992.0;
}

/* A signal that the judgment needs; NULL after a failure. */
static inline const double *voltage(struct context *c, const struct table *t, const char *name, int rows)
{
	const double *v = signal_of(t, name, rows);
	if (v == NULL)
		failed_because(c, "output", "the simulator did not print %d values of %s", rows, name);
	return v;
}

/* That a value is what the analysis of the circuit says. */
static inline void near(struct context *c, const char *what, double found, double right, double tolerance)
{
	if (!(fabs(found - right) <= tolerance))
		failed_because(c, "output", "%s is %.6g by the simulator, and %.6g by analysis, +-%.2g", what, found, right, tolerance);
}

/* A follower in its settled state at the end of each half of a period, of so many rows: +-amplitude; and its slope between halves of it, V/s. */
static inline double follows(struct context *c, const double *out, int rows, int half, int delay, double amplitude, double tolerance, double step)
{
	double crossed[2] = {0, 0};
	for (int at = delay + half, high = 1; at < rows; at += half, high = !high)
		near(c, "the settled output of the follower, V,", out[at - 1], high ? amplitude : -amplitude, tolerance);
	for (int i = delay; i + 1 < delay + half && crossed[1] == 0; i++)
		for (int which = 0; which < 2; which++) {
			double level = which == 0 ? -amplitude / 2 : amplitude / 2;
			if (out[i] < level && out[i + 1] >= level && crossed[which] == 0)
				crossed[which] = (i + (level - out[i]) / (out[i + 1] - out[i])) * step;
		}
	return amplitude / (crossed[1] - crossed[0]);
}

#endif
