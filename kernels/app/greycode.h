/* Generated Gray-code counter of 396 MOS transistors: seven flip-flops of six gates, with initial states from the seed.
 *
 * Flip-flop p toggles on each clock. Bit 0 toggles if p is 0; bit i if p is 1, bit i-1 is 1 and all lower bits are 0; the last bit if p is
 * 1 and all but the last two are 0. Analysis: after k clocks from state number s the bits are those of n ^ n/2 with n = (s+k) modulo 64.
 */
#ifndef GRITSTONE_APP_GREYCODE_H
#define GRITSTONE_APP_GREYCODE_H

#include "analog.h"

enum { BITS = 6, CLOCKS = 24, CLOCK_ROWS = 20, FIRST_ROW = 30 }; /* rows of 5 ns; the clock rises first at 150 ns */

static inline uint64_t greycode_state(uint64_t seed)
{
	return seed >> 32 & ((1u << BITS) - 1);
}

/* A D flip-flop with outputs q and qb, rising edge, set or reset to its initial state while init is 0. */
static inline void greycode_flip_flop(FILE *f, const char *name, int state)
{
	fprintf(f, "x%s %s %sb %sd clk %s %s vdd flip\n", name, name, name, name, state ? "init" : "vdd", state ? "vdd" : "init");
}

static inline void greycode_write(FILE *f, uint64_t seed)
{
	uint64_t s = greycode_state(seed), gray = s ^ s >> 1;
	char bit[8];
	fputs(".model n nmos (level=1 vto=0.8 kp=40u lambda=0.02 cgso=0.3n cgdo=0.3n cbd=10f cbs=10f tox=40n)\n"
	      ".model p pmos (level=1 vto=-0.8 kp=16u lambda=0.02 cgso=0.3n cgdo=0.3n cbd=10f cbs=10f tox=40n)\n"
	      ".subckt not a y vdd\nm1 y a 0 0 n w=8u l=2u\nm2 y a vdd vdd p w=20u l=2u\nc1 y 0 20f\n.ends\n"
	      ".subckt nand a b y vdd\nm1 y a s 0 n w=16u l=2u\nm2 s b 0 0 n w=16u l=2u\nm3 y a vdd vdd p w=20u l=2u\n"
	      "m4 y b vdd vdd p w=20u l=2u\nc1 y 0 20f\n.ends\n"
	      ".subckt nand3 a b c y vdd\nm1 y a s 0 n w=24u l=2u\nm2 s b r 0 n w=24u l=2u\nm3 r c 0 0 n w=24u l=2u\n"
	      "m4 y a vdd vdd p w=20u l=2u\nm5 y b vdd vdd p w=20u l=2u\nm6 y c vdd vdd p w=20u l=2u\nc1 y 0 20f\n.ends\n"
	      ".subckt and a b y vdd\nx1 a b z vdd nand\nx2 z y vdd not\n.ends\n"
	      ".subckt xor a b y vdd\nx1 a b z vdd nand\nx2 a z u vdd nand\nx3 z b v vdd nand\nx4 u v y vdd nand\n.ends\n"
	      ".subckt flip q qb d clk set res vdd\nx1 set n4 n2 n1 vdd nand3\nx2 n1 res clk n2 vdd nand3\nx3 n2 clk n4 n3 vdd nand3\n"
	      "x4 n3 res d n4 vdd nand3\nx5 set n2 qb q vdd nand3\nx6 q res n3 qb vdd nand3\n.ends\n"
	      "vdd vdd 0 5\nvinit init 0 pulse(0 5 80n 1n 1n 1 2)\nvclk clk 0 pulse(0 5 150n 1n 1n 49n 100n)\n", f);
	greycode_flip_flop(f, "p", s & 1);
	fputs("rp pb pd 1\n", f);
	for (int i = 0; i < BITS; i++) {
		snprintf(bit, sizeof bit, "g%d", i);
		greycode_flip_flop(f, bit, gray >> i & 1);
		fprintf(f, "xx%d g%d t%d g%dd vdd xor\n", i, i, i, i);
	}
	/* z0 is p; zi is p while the bits below i are 0 */
	fputs("rz p z0 1\nrt pb t0 1\n", f);
	for (int i = 1; i < BITS - 1; i++)
		fprintf(f, "xt%d z%d g%d t%d vdd and\nxz%d z%d g%db z%d vdd and\n", i, i - 1, i - 1, i, i, i - 1, i - 1, i);
	fprintf(f, "rl z%d t%d 1\n", BITS - 2, BITS - 1);
	fputs(".print tran", f);
	for (int i = 0; i < BITS; i++)
		fprintf(f, " v(g%d)", i);
	fprintf(f, "\n.tran 5n %dn\n", 150 + CLOCKS * 100);
}

static inline void greycode_check_output(struct context *c, const struct table *t, int rows, uint64_t seed)
{
	for (int i = 0; i < BITS; i++) {
		char name[8];
		snprintf(name, sizeof name, "v(g%d)", i);
		const double *v = voltage(c, t, name, rows);
		/* before each rising edge */
		for (int k = 0; v != NULL && k <= CLOCKS; k++) {
			uint64_t number = (greycode_state(seed) + (uint64_t)k) & ((1u << BITS) - 1), gray = number ^ number >> 1;
			check_near(c, "a bit of the counter, V,", v[FIRST_ROW - 2 + k * CLOCK_ROWS], gray >> i & 1 ? 5 : 0, 0.25);
		}
	}
}

static const struct circuit greycode = {"greycode", 5e-9, (150 + CLOCKS * 100) * 1e-9, greycode_write, greycode_check_output};

#endif
