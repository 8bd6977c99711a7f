/* An analog circuit: its netlist for a seed, and the check of the simulated voltages. */
#ifndef GRITSTONE_APP_ANALOG_H
#define GRITSTONE_APP_ANALOG_H

#include <math.h>

#include "simulations.h"
#include "table.h"

struct circuit {
	const char *name;
	double step, stop; /* print interval and end of the transient analysis, s */
	void (*write)(FILE *netlist, uint64_t seed);
	void (*check_output)(struct context *c, const struct table *t, int rows, uint64_t seed);
};

/* Maps the seed to [0, 1). */
static inline double fraction(uint64_t seed)
{
	return (double)(seed >> 11) / 9007199254740992.0;
}

/* Returns NULL on failure. */
static inline const double *voltage(struct context *c, const struct table *t, const char *name, int rows)
{
	const double *v = find_signal(t, name, rows);
	if (v == NULL)
		failed_because(c, "output", "the simulator did not print %d values of %s", rows, name);
	return v;
}

/* Compares a simulated value with the analytical one. */
static inline void check_near(struct context *c, const char *what, double found, double expected, double tolerance)
{
	if (!(fabs(found - expected) <= tolerance))
		failed_because(c, "output", "%s is %.6g by the simulator, %.6g +-%.2g by analysis", what, found, expected, tolerance);
}

/* Checks the settled output of a voltage follower at the end of each half period (of `half` rows), and returns its slope between
 * +-amplitude/2, V/s. */
static inline double check_follower(struct context *c, const double *out, int rows, int half, int delay, double amplitude, double tolerance, double step)
{
	double crossed[2] = {0, 0};
	for (int row = delay + half, high = 1; row < rows; row += half, high = !high)
		check_near(c, "the settled output of the follower, V,", out[row - 1], high ? amplitude : -amplitude, tolerance);
	for (int i = delay; i + 1 < delay + half && crossed[1] == 0; i++)
		for (int which = 0; which < 2; which++) {
			double level = which == 0 ? -amplitude / 2 : amplitude / 2;
			if (out[i] < level && out[i + 1] >= level && crossed[which] == 0)
				crossed[which] = (i + (level - out[i]) / (out[i + 1] - out[i])) * step;
		}
	return amplitude / (crossed[1] - crossed[0]);
}

#endif
