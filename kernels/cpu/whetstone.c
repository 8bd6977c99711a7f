/* cpu/whetstone: the Whetstone program in Fortran, B1 in single and B1D in double precision (hp-1987, table 3.1).
 *
 * One operation is one loop, a million Whetstone instructions. The work is in whetstone.inc, included by whetstone.f90; the expected
 * results are in whetstone.h.
 */
#include "whetstone.h"

whetstone b1_whetstone, b1d_whetstone;
call_p0 b1_p0, b1d_p0;
call_p3 b1_p3, b1d_p3;
call_pa b1_pa, b1d_pa;

static const struct precision precisions[] = {
	{"single", 1e-3, b1_whetstone, b1_p0, b1_p3, b1_pa},
	{"double", 1e-10, b1d_whetstone, b1d_p0, b1d_p3, b1d_pa},
};

static void setup(struct context *c)
{
	select_precision(c, precisions, 2);
}

const struct kernel kernel = {.name = "cpu/whetstone", .setup = setup, .run = run, .expect = expect};
