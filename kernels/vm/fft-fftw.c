/* vm/fft@fftw: the two-dimensional complex Fourier transform by the installed FFTW library, for comparison with login-1982, table IV.
 *
 * One operation is one out-of-place forward transform of side * side numbers, by a plan made with FFTW_MEASURE, on one thread. The library
 * is loaded by dlopen(3), and noted with the result. The check value is the number of transforms if the last result is correct; the array
 * is cleared before each region.
 */
#define _GNU_SOURCE
#include <dlfcn.h>

#include "fft.h"

#define FORWARD (-1) /* FFTW_FORWARD, FFTW_MEASURE: the header may not be installed */
#define MEASURE 0u

typedef void *make_plan(int rows, int columns, void *in, void *out, int sign, unsigned flags);
typedef void execute(void *plan);

static const char *const libraries[2][2] = {{"libfftw3.so.3", "libfftw3.so"}, {"libfftw3f.so.3", "libfftw3f.so"}};
static execute *library_execute;
static void *plan;

/* memcpy, since ISO C has no conversion from data to function pointers. */
static int find_symbol(void *library, const char *name, void *function)
{
	void *found = dlsym(library, name);
	memcpy(function, &found, sizeof found);
	return found != NULL;
}

static void note_library(struct context *c, void *library, const char *version_name)
{
	Dl_info where;
	const char *version = dlsym(library, version_name);
	if (version != NULL && dladdr(version, &where) != 0 && where.dli_fname != NULL) {
		char *path = realpath(where.dli_fname, NULL);
		note(c, "fftw", "%s, %s", version, path != NULL ? path : where.dli_fname);
		free(path);
	}
}

static void setup(struct context *c)
{
	if (!setup_fft(c))
		return;
	make_plan *make = NULL;
	for (int i = 0; i < 2 && plan == NULL; i++) {
		void *library = dlopen(libraries[single][i], RTLD_NOW | RTLD_LOCAL);
		if (library == NULL || !find_symbol(library, single ? "fftwf_plan_dft_2d" : "fftw_plan_dft_2d", &make) ||
		    !find_symbol(library, single ? "fftwf_execute" : "fftw_execute", &library_execute))
			continue;
		note_library(c, library, single ? "fftwf_version" : "fftw_version");
		/* planning overwrites both arrays, so it uses a copy of the input */
		char *from = map(c);
		if (from == NULL)
			return;
		plan = make(side, side, from, array, FORWARD, MEASURE);
		memcpy(from, input, bytes);
	}
	if (plan == NULL)
		skip(c, "It needs FFTW as a shared library: apt-get install %s.", single ? "libfftw3-single3" : "libfftw3-double3");
}

static void prepare(struct context *c, uint64_t n)
{
	(void)c;
	(void)n;
	memset(array, 0, bytes);
}

static void run(struct context *c, uint64_t n, uint64_t *check)
{
	(void)c;
	(void)check;
	for (uint64_t i = 0; i < n; i++)
		library_execute(plan);
}

/* FFTW is row-major, the input column-major: the transform of the transpose is the transpose of the transform. */
static void finish(struct context *c, uint64_t n, uint64_t *check)
{
	(void)c;
	if (is_transform(array, side, 0))
		*check = n;
}

static uint64_t expect(struct context *c, uint64_t n)
{
	(void)c;
	return n;
}

const struct kernel kernel = {
	.name = "vm/fft-fftw",
	.setup = setup,
	.prepare = prepare,
	.run = run,
	.finish = finish,
	.expect = expect,
};
