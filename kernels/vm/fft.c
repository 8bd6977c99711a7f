/* vm/fft, vm/fft-loaded: the two-dimensional complex Fourier transform in Fortran (login-1982, table IV and the text below it).
 *
 * One operation is one in-place forward transform of side * side numbers, scaled to preserve the sum of squares: two transforms reverse the
 * order of the elements, four restore the array. So every result is known, independent of the number of transforms; the check value is that
 * number if the result is correct. The work is in fft.inc, included by fft.f90. load=1: with background processes (load.h), in the same
 * control group if there is one. swap=yes: the group has less memory than the array, which is swapped. advice=sequential: madvise(2) with
 * MADV_SEQUENTIAL.
 */
#define _GNU_SOURCE
#include <errno.h>

#include "fft.h"
#include "load.h"
#include "swapped.h"

typedef void transform(void *array, const int *side, const void *roots);

transform fft_single_transform, fft_double_transform;

static char *native_roots; /* roots in the precision of the array */
static int swapping;

static void setup(struct context *c)
{
	swapping = strcmp(parameter(c, "swap", "no"), "yes") == 0;
	if ((swapping && !require_swap(c)) || !setup_fft(c))
		return;
	/* small pages, since huge pages are swapped as a whole */
	if (swapping && madvise(array, bytes, MADV_NOHUGEPAGE) != 0 && errno != EINVAL)
		failed(c, "madvise");
	native_roots = malloc(2 * (size_t)side * sizeof(double));
	if (native_roots == NULL) {
		failed(c, "malloc");
		return;
	}
	for (size_t k = 0; k < (size_t)side; k++) {
		set(native_roots, 2 * k, roots[k].real);
		set(native_roots, 2 * k + 1, roots[k].imaginary);
	}
	const char *advice = parameter(c, "advice", "none");
	if (strcmp(advice, "sequential") == 0) {
		if (madvise(array, bytes, MADV_SEQUENTIAL) != 0)
			failed(c, "madvise");
	} else if (strcmp(advice, "none") != 0) {
		wrong_arguments(c, "advice=%s is neither none nor sequential", advice);
	}
	if (parameter_u64(c, "load", 0) != 0)
		start_load(c);
}

static void prepare(struct context *c, uint64_t n)
{
	(void)n;
	if (swapping && madvise(array, bytes, MADV_DONTNEED) != 0)
		failed(c, "madvise");
	memcpy(array, input, bytes);
	if (swapping)
		begin_swap_count(c);
}

static void run(struct context *c, uint64_t n, uint64_t *check)
{
	transform *transform = single ? fft_single_transform : fft_double_transform;
	(void)c;
	(void)check;
	for (uint64_t i = 0; i < n; i++)
		transform(array, &side, native_roots);
}

/* Whether the array equals the input, or the reversed input. */
static int is_input(int back)
{
	for (int j = 0; j < side; j++)
		for (int i = 0; i < side; i++)
			if (!is_near(get(array, back ? (side - i) % side : i, back ? (side - j) % side : j), get(input, i, j), 1))
				return 0;
	return 1;
}

static void finish(struct context *c, uint64_t n, uint64_t *check)
{
	if (swapping)
		end_swap_count(c, n);
	int back = n % 4 >= 2;
	if (n % 2 == 0 ? is_input(back) : is_transform(array, 1, back))
		*check = n;
}

static uint64_t expect(struct context *c, uint64_t n)
{
	(void)c;
	return n;
}

static void teardown(struct context *c)
{
	stop_load(c);
	note_swapped(c);
}

const struct kernel kernel = {
	.name = "vm/fft",
	.setup = setup,
	.prepare = prepare,
	.run = run,
	.finish = finish,
	.expect = expect,
	.teardown = teardown,
};
