/* An amplifier of 31 MOS transistors, of our own design: source followers at both inputs, a differential pair with a cascoded mirror, a
 * second stage with a Miller capacitor, and output followers. It follows a square wave with an amplitude from the seed.
 *
 * Analysis: the reference chain is two transistors, 90 kohm and two more across 15 V, each with the voltage V for I = KP/2 W/L (V-1)^2 (1 +
 * LAMBDA V); the settled output equals the input; the slew rate is twice that current over the capacitor.
 */
#ifndef GRITSTONE_APP_MOSAMP2_H
#define GRITSTONE_APP_MOSAMP2_H

#include "analog.h"

enum { MOSAMP2_HALF = 100, MOSAMP2_DELAY = 10 }; /* rows of 0.2 us */

static inline double mosamp2_amplitude(uint64_t seed)
{
	return 1 + fraction(seed) / 2;
}

static inline void mosamp2_write(FILE *f, uint64_t seed)
{
	double a = mosamp2_amplitude(seed);
	fprintf(f, ".model n nmos (level=1 vto=1 kp=30u lambda=0.02 cgso=0.3n cgdo=0.3n cgbo=0.2n cbd=20f cbs=20f tox=50n)\n"
		   ".model p pmos (level=1 vto=-1 kp=12u lambda=0.02 cgso=0.3n cgdo=0.3n cgbo=0.2n cbd=20f cbs=20f tox=50n)\n"
		   "vdd vdd 0 7.5\nvss vss 0 -7.5\nvin in 0 pulse(%.9f %.9f 2u 10n 10n 19.99u 40u)\n", -a, a);
	/* reference */
	fputs("m1 b1 b1 vdd vdd p w=325u l=5u\nm2 b2 b2 b1 b1 p w=325u l=5u\nrb b2 b3 90k\nm3 b3 b3 b4 b4 n w=130u l=5u\n"
	      "m4 b4 b4 vss vss n w=130u l=5u\n", f);
	/* input followers, each with a cascoded current source */
	fputs("m5 sp b1 vdd vdd p w=650u l=5u\nm6 ip b2 sp sp p w=650u l=5u\nm7 vss in ip ip p w=1300u l=5u\n"
	      "m8 sm b1 vdd vdd p w=650u l=5u\nm9 im b2 sm sm p w=650u l=5u\nm10 vss out im im p w=1300u l=5u\n", f);
	/* differential pair, tail current source and load */
	fputs("m11 ts b4 vss vss n w=260u l=5u\nm12 t b3 ts ts n w=260u l=5u\nm13 l1 im t t n w=1300u l=5u\nm14 l2 ip t t n w=1300u l=5u\n"
	      "m15 s1 s1 vdd vdd p w=325u l=5u\nm16 l1 l1 s1 s1 p w=325u l=5u\nm17 s2 s1 vdd vdd p w=325u l=5u\nm18 l2 l1 s2 s2 p w=325u l=5u\n", f);
	/* second stage, with the output bias */
	fputs("m19 u u vdd vdd p w=1300u l=5u\nm20 g l2 u u p w=1300u l=5u\nm21 g g k k n w=520u l=5u\nm22 h h k k p w=1300u l=5u\n"
	      "m23 h b3 w w n w=520u l=5u\nm24 w b4 vss vss n w=520u l=5u\n", f);
	/* output followers, with two canceling currents */
	fputs("m25 vdd g out out n w=1300u l=5u\nm26 vss h out out p w=3250u l=5u\nm27 y1 b1 vdd vdd p w=325u l=5u\n"
	      "m28 out b2 y1 y1 p w=325u l=5u\nm29 out b3 y2 y2 n w=130u l=5u\nm30 y2 b4 vss vss n w=130u l=5u\ncl out 0 10p\n", f);
	/* compensation: a transistor as nulling resistor */
	fputs("m31 l2 vdd z z n w=60u l=5u\ncc z g 120p\n", f);
	fputs(".print tran v(in) v(out) v(b1) v(b2) v(b3) v(b4)\n.tran 0.2u 1000u\n", f);
}

/* Voltage of a diode-connected transistor at this current; both types have KP W/L = 0.78 mA/V2. */
static inline double mosamp2_diode(double current)
{
	double low = 1, high = 5;
	for (int i = 0; i < 60; i++) {
		double v = (low + high) / 2;
		if (0.78e-3 / 2 * (v - 1) * (v - 1) * (1 + 0.02 * v) < current)
			low = v;
		else
			high = v;
	}
	return low;
}

static inline void mosamp2_check_output(struct context *c, const struct table *t, int rows, uint64_t seed)
{
	const double *out = voltage(c, t, "v(out)", rows), *b1 = voltage(c, t, "v(b1)", rows), *b2 = voltage(c, t, "v(b2)", rows),
		     *b3 = voltage(c, t, "v(b3)", rows), *b4 = voltage(c, t, "v(b4)", rows);
	if (out == NULL || b1 == NULL || b2 == NULL || b3 == NULL || b4 == NULL)
		return;
	double a = mosamp2_amplitude(seed), low = 0, high = 1e-3;
	for (int i = 0; i < 60; i++) {
		double current = (low + high) / 2;
		if (4 * mosamp2_diode(current) + 90e3 * current < 15)
			low = current;
		else
			high = current;
	}
	double v = mosamp2_diode(low);
	check_near(c, "the first voltage of the reference, V,", b1[0], 7.5 - v, 0.002);
	check_near(c, "the second voltage of the reference, V,", b2[0], 7.5 - 2 * v, 0.004);
	check_near(c, "the third voltage of the reference, V,", b3[0], -7.5 + 2 * v, 0.004);
	check_near(c, "the fourth voltage of the reference, V,", b4[0], -7.5 + v, 0.002);
	double slope = check_follower(c, out, rows, MOSAMP2_HALF, MOSAMP2_DELAY, a, 0.01, 0.2e-6);
	check_near(c, "the rising slope, V/s,", slope, 2 * low / 120e-12, 0.3 * 2 * low / 120e-12);
}

static const struct circuit mosamp2 = {"mosamp2", 0.2e-6, 1e-3, mosamp2_write, mosamp2_check_output};

#endif
