/* The textbook operational amplifier 741 at transistor level, as a voltage follower of a square wave with an amplitude from the seed.
 *
 * Analysis: the reference current is (30 V - Vbe - Veb) / 39 kohm; that of the Widlar source, I R4 = VT ln(Iref / I), with the Early effect
 * of its transistor; the settled output equals the input; the slew rate is the current of the first stage over the capacitor of 30 pF.
 */
#ifndef GRITSTONE_APP_UA741_H
#define GRITSTONE_APP_UA741_H

#include "analog.h"

enum { UA741_HALF = 50, UA741_DELAY = 10 }; /* rows of 1 us */

static inline double ua741_amplitude(uint64_t seed)
{
	return 4.5 + fraction(seed);
}

static inline void ua741_write(FILE *f, uint64_t seed)
{
	double a = ua741_amplitude(seed);
	fprintf(f, ".model n npn (is=1e-14 bf=200 br=2 vaf=125 rb=200 rc=200 tf=1.15n tr=400n cje=1p cjc=0.3p)\n"
		   ".model p pnp (is=1e-14 bf=50 br=4 vaf=50 rb=300 rc=100 tf=25n tr=2500n cje=0.3p cjc=1p)\n"
		   "vcc vcc 0 15\nvee vee 0 -15\nvin in 0 pulse(%.9f %.9f 10u 10n 10n 49.99u 100u)\n", -a, a);
	/* input stage: emitter followers, lateral transistors, current-mirror load */
	fputs("q1 c1 in e1 n\nq2 c1 out e2 n\nq3 a b34 e1 p\nq4 b b34 e2 p\nq5 a c x5 n\nq6 b c x6 n\nq7 vcc a c n\n"
	      "r1 x5 vee 1k\nr2 x6 vee 1k\nr3 c vee 50k\n", f);
	/* bias: upper current mirror, Widlar source, reference */
	fputs("q8 c1 c1 vcc p\nq9 b34 c1 vcc p\nq10 b34 d w n\nq11 d d vee n\nq12 e e vcc p\nq13 f e vcc p 0.25\nq25 g e vcc p 0.75\n"
	      "r4 w vee 5k\nr5 e d 39k\n", f);
	/* second stage */
	fputs("q16 vcc b h n\nq17 g h x17 n\nr8 x17 vee 100\nr9 h vee 50k\ncc b g 30p\n", f);
	/* output stage with bias and overcurrent protection */
	fputs("q14 vcc f m n 3\nq15 f m out n\nq18 f i k n\nq19 f f i n\nq20 vee k o p 3\nq21 l o out p\nq22 b l vee n\nq23 vee g k p\n"
	      "q24 l l vee n\nr6 m out 27\nr7 o out 22\nr10 i k 40k\nr11 l vee 50k\nrl out 0 2k\n", f);
	fputs(".print tran v(in) v(out) v(e) v(d) v(w) v(c1)\n.tran 1u 2000u\n", f);
}

static inline void ua741_check_output(struct context *c, const struct table *t, int rows, uint64_t seed)
{
	static const double VT = 0.0258649, IS = 1e-14, EARLY_N = 125, EARLY_P = 50; /* at 27 C */
	const double *out = voltage(c, t, "v(out)", rows), *e = voltage(c, t, "v(e)", rows), *d = voltage(c, t, "v(d)", rows),
		     *w = voltage(c, t, "v(w)", rows);
	if (out == NULL || e == NULL || d == NULL || w == NULL)
		return;
	double a = ua741_amplitude(seed), reference = 7e-4, widlar = 2e-5;
	for (int i = 0; i < 50; i++)
		reference = (30 - 2 * VT * log(reference / IS)) / 39e3;
	/* voltage across the Widlar transistor at the low level: the bases of the lateral transistors are two diode drops below the input */
	double across = -a - 2 * VT * log(1e-5 / IS) - (-15 + VT * log(reference / IS));
	for (int i = 0; i < 50; i++)
		widlar = (widlar + VT * log(reference * (1 + across / EARLY_N) / widlar) / 5e3) / 2;
	check_near(c, "the reference current, A,", (e[0] - d[0]) / 39e3, reference, 0.005 * reference);
	check_near(c, "the current of the Widlar source, A,", (w[0] + 15) / 5e3, widlar, 0.03 * widlar);
	double slope = check_follower(c, out, rows, UA741_HALF, UA741_DELAY, a, 0.025, 1e-6);
	/* Early effect of the upper mirror, at about 15 V */
	double stage = widlar / (1 + (15 + 2 * VT * log(1e-5 / IS)) / EARLY_P);
	check_near(c, "the rising slope, V/s,", slope, stage / 30e-12, 0.35 * stage / 30e-12);
}

static const struct circuit ua741 = {"ua741", 1e-6, 2e-3, ua741_write, ua741_check_output};

#endif
