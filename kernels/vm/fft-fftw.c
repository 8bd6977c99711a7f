/* vm/fft@fftw: the two-dimensional complex Fourier transform by the FFTW library of the machine, beside login-1982, table IV.
 *
 * One operation is one forward transform of side * side numbers from one array to another, by a plan that FFTW has measured
 * beforehand, on one thread. The library is looked for where the loader of the system looks, and is named with the figure. The check value
 * is the number of transforms if what the last one left is right; the array is cleared before each region.
 */
#define _GNU_SOURCE
#include <dlfcn.h>

#include "fft.h"

#define FORWARD (-1) /* FFTW's names for these are in a header that need not be here */
#define MEASURE 0u

typedef void *make_plan(int rows, int columns, void *in, void *out, int sign, unsigned flags);
typedef void execute(void *plan);

static const char *const libraries[2][2] = {{"libfftw3.so.3", "libfftw3.so"}, {"libfftw3f.so.3", "libfftw3f.so"}};
static execute *library_execute;
static void *plan;

/* ISO C knows no way from a pointer to data to one to a function but by its bytes. */
static int find(void *library, const char *name, void *function)
{
	void *found = dlsym(library, name);
	memcpy(function, &found, sizeof found);
	return found != NULL;
}

static void say_which(struct context *c, void *library, const char *version_name)
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
	if (!begin(c))
		return;
	make_plan *make = NULL;
	for (int i = 0; i < 2 && plan == NULL; i++) {
		void *library = dlopen(libraries[single][i], RTLD_NOW | RTLD_LOCAL);
		if (library == NULL || !find(library, single ? "fftwf_plan_dft_2d" : "fftw_plan_dft_2d", &make) ||
		    !find(library, single ? "fftwf_execute" : "fftw_execute", &library_execute))
			continue;
		say_which(c, library, single ? "fftwf_version" : "fftw_version");
		/* measuring a plan writes to both arrays, so that one of them is not the input */
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

/* Rows and columns are the other way round there, and so are they in the input: the transform of one is that of the other. */
static void finish(struct context *c, uint64_t n, uint64_t *check)
{
	(void)c;
	if (transformed(array, side, 0))
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
