/* cpu/linpack-tuned: the system of equations of cpu/linpack, with the BLAS that the machine has (hp-1987, table 3.3, where the BLAS
 * was written again in assembly).
 *
 * One operation is one system solved: by the same two halves of Linpack, with axpy, scal and iamax of the library
 * (solver=linpack), or by the library's own gesv, as is allowed at order 1000 (solver=lapack). The library is looked for where the
 * loader of the system looks, works on one thread, and is named with the figure. limit_s= skips an order that would take
 * longer than so many seconds a system, going by one of a quarter of it.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <time.h>

#include "linpack.h"

static const char *const libraries[] = {
	"libopenblas.so.0", "libopenblas.so", "libblis.so.4", "libblis.so.3", "libblis.so", "libblas.so.3", "libblas.so",
};

static struct precision precisions[] = {
	{.name = "single", .size = sizeof(float), .epsilon = FLT_EPSILON, .factor = linpack_sgefa, .solve = linpack_sgesl},
	{.name = "double", .size = sizeof(double), .epsilon = DBL_EPSILON, .factor = linpack_dgefa, .solve = linpack_dgesl},
};

/* A function of the library: ISO C knows no way from a pointer to data to one to a function but by its bytes. */
static int find(void *library, const char *name, void *function)
{
	void *found = dlsym(library, name);
	memcpy(function, &found, sizeof found);
	return found != NULL;
}

/* By these a BLAS says whose it is: OpenBLAS, BLIS, ATLAS, MKL, FlexiBLAS, Arm's and NVIDIA's. The reference BLAS of netlib says nothing. */
static const char *const signatures[] = {
	"openblas_get_config", "bli_info_get_version_str", "ATL_buildinfo", "MKL_Get_Version", "flexiblas_get_version", "armplversion", "nvpl_blas_get_version",
};

static int is_signed(void *library)
{
	for (size_t i = 0; i < sizeof signatures / sizeof *signatures; i++)
		if (dlsym(library, signatures[i]) != NULL)
			return 1;
	return 0;
}

static void say_which(struct context *c, void *library)
{
	Dl_info where;
	void *any = dlsym(library, "daxpy_");
	char *(*config)(void) = NULL;
	if (any != NULL && dladdr(any, &where) != 0 && where.dli_fname != NULL) {
		char *path = realpath(where.dli_fname, NULL);
		note(c, "blas", "%s", path != NULL ? path : where.dli_fname);
		free(path);
	}
	if (find(library, "openblas_get_config", &config))
		note(c, "blas_says", "%s", config());
	if (!is_signed(library))
		note(c, "stand_in", "The BLAS here does not say whose it is: it may be the reference BLAS, which nobody tuned (apt-get install libopenblas0).");
}

static double seconds(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* A quarter of the order is a 64th of the work: the upper left corner of the same matrix, whose order is whole when four divides it. */
static void stay_below(struct context *c, double limit)
{
	const int right_sides = 1, corner = order / 4;
	int info;
	double took[2];
	if (limit <= 0 || chosen->gesv == NULL)
		return;
	for (int i = 0; i < 2; i++) { /* the first time is for the library's own beginnings */
		prepare(c, 1);
		if (matrices == NULL || vectors == NULL || pivots == NULL)
			return;
		took[i] = seconds();
		chosen->gesv(&corner, &right_sides, matrices, &lda, pivots, vectors, &corner, &info);
		took[i] = 64 * (seconds() - took[i]);
	}
	if (took[1] > limit)
		skip(c, "A system of order %d would take about %.1f s here, and the limit is %g s: --param limit_s=%.0f raises it.",
		     order, took[1], limit, 2 * took[1] + 1);
}

static void setup(struct context *c)
{
	int lapack = strcmp(parameter(c, "solver", "linpack"), "lapack") == 0;
	choose(c, precisions, 2);
	if (chosen == NULL)
		return;
	/* libraries read these when they are loaded */
	setenv("OPENBLAS_NUM_THREADS", "1", 1);
	setenv("BLIS_NUM_THREADS", "1", 1);
	setenv("OMP_NUM_THREADS", "1", 1);
	int first = chosen->size == sizeof(float);
	for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++) {
		void *library = dlopen(libraries[i], RTLD_NOW | RTLD_LOCAL);
		if (library == NULL)
			continue;
		int fits = find(library, first ? "saxpy_" : "daxpy_", &chosen->axpy) &&
			   find(library, first ? "sscal_" : "dscal_", &chosen->scal) &&
			   find(library, first ? "isamax_" : "idamax_", &chosen->iamax) &&
			   (!lapack || find(library, first ? "sgesv_" : "dgesv_", &chosen->gesv));
		if (fits) {
			say_which(c, library);
			stay_below(c, (double)parameter_u64(c, "limit_s", 0));
			return;
		}
		dlclose(library);
	}
	skip(c, "It needs a BLAS%s as a shared library, such as OpenBLAS%s: apt-get install libopenblas0.",
	     lapack ? " with LAPACK's gesv" : "", lapack ? "" : " or BLIS");
}

const struct kernel kernel = {
	.name = "cpu/linpack-tuned",
	.setup = setup,
	.prepare = prepare,
	.run = run,
	.finish = finish,
	.expect = expect,
	.max_n = MAX_SYSTEMS,
};
