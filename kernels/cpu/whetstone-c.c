/* cpu/whetstone-c: the Whetstone program in C, in single and double precision, for comparison with the Fortran programs of table 3.1 of
 * hp-1987.
 *
 * One operation is one loop, a million Whetstone instructions: the modules of cpu/whetstone with the same weights. The work is in
 * whetstone-c.h; the expected results are in whetstone.h.
 */
#include "whetstone.h"

#define real float
#define FUNCTION(name) name##f
#define NAME(x) x##_single
#include "whetstone-c.h"
#undef real
#undef FUNCTION
#undef NAME

#define real double
#define FUNCTION(name) name
#define NAME(x) x##_double
#include "whetstone-c.h"

static const struct precision precisions[] = {
	{"single", 1e-3, loop_single, p0_single, p3_single, pa_single},
	{"double", 1e-10, loop_double, p0_double, p3_double, pa_double},
};

static void setup(struct context *c)
{
	select_precision(c, precisions, 2);
}

const struct kernel kernel = {.name = "cpu/whetstone-c", .setup = setup, .run = run, .expect = expect};
