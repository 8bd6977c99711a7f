/* The two-dimensional transform of 256 by 256 complex numbers in double precision by FFTW, from one array to another by a plan that was
 * measured: what scripts/against-cpu holds vm/fft/256@fftw-double against. Prints ms, the median. */
#include <complex.h>
#include <fftw3.h>
#include <stdio.h>

#include "timing.h"

enum { SIDE = 256, TIMES = 301 };

int main(void)
{
	fftw_complex *from = fftw_malloc(SIDE * SIDE * sizeof *from), *to = fftw_malloc(SIDE * SIDE * sizeof *to);
	double took[TIMES], sum = 0;
	fftw_plan plan = fftw_plan_dft_2d(SIDE, SIDE, from, to, FFTW_FORWARD, FFTW_MEASURE);
	for (int i = 0; i < SIDE * SIDE; i++)
		sum += creal(from[i] = drand48());
	for (int k = 0; k < TIMES; k++) {
		double begin = now();
		fftw_execute(plan);
		took[k] = now() - begin;
	}
	if (creal(to[0]) / sum < 1 - 1e-9 || creal(to[0]) / sum > 1 + 1e-9)
		return 1;
	printf("%.5f\n", median(took, TIMES) * 1e3);
	return 0;
}
