/* cpu/linpack: a dense system of equations of order 100 in Fortran, with Fortran BLAS (hp-1987, table 3.3).
 *
 * One operation is the solution of one system. The work is in linpack.inc, included by linpack.f90; the system and the check of solutions
 * are in linpack.h.
 */
#include "linpack.h"

axpy linpack_saxpy, linpack_daxpy;
scal linpack_sscal, linpack_dscal;
iamax linpack_siamax, linpack_diamax;

static struct precision precisions[] = {
	{"single", sizeof(float), FLT_EPSILON, linpack_sgefa, linpack_sgesl, linpack_saxpy, linpack_sscal, linpack_siamax, NULL},
	{"double", sizeof(double), DBL_EPSILON, linpack_dgefa, linpack_dgesl, linpack_daxpy, linpack_dscal, linpack_diamax, NULL},
};

static void setup(struct context *c)
{
	select_precision(c, precisions, 2);
}

const struct kernel kernel = {
	.name = "cpu/linpack",
	.setup = setup,
	.prepare = prepare,
	.run = run,
	.finish = finish,
	.expect = expect,
	.max_n = MAX_SYSTEMS,
};
