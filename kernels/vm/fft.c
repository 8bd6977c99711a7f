/* vm/fft, vm/fft-loaded: the two-dimensional complex Fourier transform in Fortran (login-1982, table IV and the text below it).
 *
 * One operation is one forward transform in place of side * side numbers, scaled so that their sum of squares stays what
 * it is: two are the array with its elements in reverse order, four the array itself. So every result is known, however many
 * transforms there were; the check value is their number if it is right. The work is in fft.inc, by way of fft.f90. load=1: with
 * other processes at work beside it (load.h), and in the same control group, where there is one. swap=yes: the group has less memory
 * than the array needs, which pages. advice=sequential: the system is told that the array is gone through in order.
 */
#define _GNU_SOURCE
#include <errno.h>

#include "fft.h"
#include "load.h"
#include "swapped.h"

typedef void transform(void *array, const int *side, const void *roots);

transform fft_single_transform, fft_double_transform;

static char *own_roots; /* the same in the precision of the array */
static int pages_out;

static void setup(struct context *c)
{
	pages_out = strcmp(parameter(c, "swap", "no"), "yes") == 0;
	if ((pages_out && !must_swap(c)) || !begin(c))
		return;
	/* single pages, since huge ones would come and go whole */
	if (pages_out && madvise(array, bytes, MADV_NOHUGEPAGE) != 0 && errno != EINVAL)
		failed(c, "madvise");
	own_roots = malloc(2 * (size_t)side * sizeof(double));
	if (own_roots == NULL) {
		failed(c, "malloc");
		return;
	}
	for (size_t k = 0; k < (size_t)side; k++) {
		set(own_roots, 2 * k, roots[k].real);
		set(own_roots, 2 * k + 1, roots[k].imaginary);
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
	if (pages_out && madvise(array, bytes, MADV_DONTNEED) != 0)
		failed(c, "madvise");
	memcpy(array, input, bytes);
	if (pages_out)
		swap_begins(c);
}

static void run(struct context *c, uint64_t n, uint64_t *check)
{
	transform *transform = single ? fft_single_transform : fft_double_transform;
	(void)c;
	(void)check;
	for (uint64_t i = 0; i < n; i++)
		transform(array, &side, own_roots);
}

/* Whether the array is the input, from either end. */
static int is_input(int back)
{
	for (int j = 0; j < side; j++)
		for (int i = 0; i < side; i++)
			if (!near(get(array, back ? (side - i) % side : i, back ? (side - j) % side : j), get(input, i, j), 1))
				return 0;
	return 1;
}

static void finish(struct context *c, uint64_t n, uint64_t *check)
{
	if (pages_out)
		swap_ends(c, n);
	int back = n % 4 >= 2;
	if (n % 2 == 0 ? is_input(back) : transformed(array, 1, back))
		*check = n;
}

static uint64_t expect(struct context *c, uint64_t n)
{
	(void)c;
	return n;
}

static void teardown(struct context *c)
{
	end_load(c);
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
