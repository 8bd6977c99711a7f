/* cpu/linpack-tuned: the system of equations of cpu/linpack, with the installed BLAS (hp-1987, table 3.3, whose coded BLAS was in
 * assembly).
 *
 * One operation is the solution of one system: by the same two routines of Linpack, with axpy, scal and iamax of the library
 * (solver=linpack), or by the library's gesv, as permitted at order 1000 (solver=lapack). The library is loaded by dlopen(3), limited to
 * one thread, and noted with the result. limit_s= skips an order whose solution would take longer, extrapolated from a quarter of the
 * order.
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

/* memcpy, since ISO C has no conversion from data to function pointers. */
static int find_symbol(void *library, const char *name, void *function)
{
	void *found = dlsym(library, name);
	memcpy(function, &found, sizeof found);
	return found != NULL;
}

/* Symbols that identify OpenBLAS, BLIS, ATLAS, MKL, FlexiBLAS, Arm's and NVIDIA's BLAS. Netlib's reference BLAS has none. */
static const char *const signatures[] = {
	"openblas_get_config", "bli_info_get_version_str", "ATL_buildinfo", "MKL_Get_Version", "flexiblas_get_version", "armplversion", "nvpl_blas_get_version",
};

static int is_identified(void *library)
{
	for (size_t i = 0; i < sizeof signatures / sizeof *signatures; i++)
		if (dlsym(library, signatures[i]) != NULL)
			return 1;
	return 0;
}

static void note_library(struct context *c, void *library)
{
	Dl_info where;
	void *any = dlsym(library, "daxpy_");
	char *(*config)(void) = NULL;
	if (any != NULL && dladdr(any, &where) != 0 && where.dli_fname != NULL) {
		char *path = realpath(where.dli_fname, NULL);
		note(c, "blas", "%s", path != NULL ? path : where.dli_fname);
		free(path);
	}
	if (find_symbol(library, "openblas_get_config", &config))
		note(c, "blas_says", "%s", config());
	if (!is_identified(library))
		note(c, "stand_in", "The BLAS here cannot be identified: it may be the untuned reference BLAS (apt-get install libopenblas0).");
}

static double seconds(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* A quarter of the order, the upper left corner of the matrix, is 1/64 of the work. */
static void check_time_limit(struct context *c, double limit)
{
	const int right_sides = 1, corner = order / 4;
	int info;
	double elapsed[2];
	if (limit <= 0 || chosen->gesv == NULL)
		return;
	for (int i = 0; i < 2; i++) { /* the first call includes the library's initialization */
		prepare(c, 1);
		if (matrices == NULL || vectors == NULL || pivots == NULL)
			return;
		elapsed[i] = seconds();
		chosen->gesv(&corner, &right_sides, matrices, &lda, pivots, vectors, &corner, &info);
		elapsed[i] = 64 * (seconds() - elapsed[i]);
	}
	if (elapsed[1] > limit)
		skip(c, "A system of order %d would take about %.1f s here, and the limit is %g s: --param limit_s=%.0f raises it.",
		     order, elapsed[1], limit, 2 * elapsed[1] + 1);
}

static void setup(struct context *c)
{
	int lapack = strcmp(parameter(c, "solver", "linpack"), "lapack") == 0;
	select_precision(c, precisions, 2);
	if (matrix == NULL || vector == NULL)
		return;
	/* read by the libraries when loaded */
	setenv("OPENBLAS_NUM_THREADS", "1", 1);
	setenv("BLIS_NUM_THREADS", "1", 1);
	setenv("OMP_NUM_THREADS", "1", 1);
	int first = chosen->size == sizeof(float);
	for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++) {
		void *library = dlopen(libraries[i], RTLD_NOW | RTLD_LOCAL);
		if (library == NULL)
			continue;
		int complete = find_symbol(library, first ? "saxpy_" : "daxpy_", &chosen->axpy) &&
			   find_symbol(library, first ? "sscal_" : "dscal_", &chosen->scal) &&
			   find_symbol(library, first ? "isamax_" : "idamax_", &chosen->iamax) &&
			   (!lapack || find_symbol(library, first ? "sgesv_" : "dgesv_", &chosen->gesv));
		if (complete) {
			note_library(c, library);
			check_time_limit(c, (double)parameter_u64(c, "limit_s", 0));
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
