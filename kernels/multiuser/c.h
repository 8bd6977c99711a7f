/* The users' program in C, for systems without a Fortran compiler: the same modules, lines and bytes. */
#ifndef GRITSTONE_MULTIUSER_C_H
#define GRITSTONE_MULTIUSER_C_H

#include "source.h"

static const char *const c_declarations[KINDS] = {"x1 = 1, x2 = -1, x3 = -1, x4 = -1;", "e[4] = {1, -1, -1, -1};", "r = 0;", "e[3] = {0};",
					      "x = 0.5, y = 0.5;", "x = 0.75;"};
static const char *const c_bodies[KINDS] = {
	"  for (i = 0; i < n; i++) {\n    x1 = (x1+x2+x3-x4)*t;\n    x2 = (x1+x2-x3+x4)*t;\n    x3 = (x1-x2+x3+x4)*t;\n    x4 = (x2-x1+x3+x4)*t;\n  }\n"
	"  return x4;\n",
	"  for (i = 0; i < n; i++) {\n    e[0] = (e[0]+e[1]+e[2]-e[3])*t;\n    e[1] = (e[0]+e[1]-e[2]+e[3])*t;\n    e[2] = (e[0]-e[1]+e[2]+e[3])*t;\n"
	"    e[3] = (e[1]-e[0]+e[2]+e[3])*t;\n  }\n  return e[3];\n",
	"  j = 1;\n  for (i = 0; i < n; i++) {\n    if (j == 1)\n      j = 2;\n    else\n      j = 3;\n    if (j > 2)\n      j = 0;\n    else\n      j = 1;\n"
	"    if (j < 1)\n      j = 1;\n    else\n      j = 0;\n    r += j;\n  }\n  return r;\n",
	"  j = 1;\n  k = 2;\n  l = 3;\n  for (i = 0; i < n; i++) {\n    j = j*(k-j)*(l-k);\n    k = l*k - (l-j)*k;\n    l = (l-k)*(k+j);\n    e[l-2] = j + k + l;\n"
	"    e[k-2] = j*k*l;\n  }\n  return e[0] + e[1];\n",
	"  for (i = 0; i < n; i++) {\n    x = t*atan(2*sin(x)*cos(x)\n      /(cos(x+y)+cos(x-y)-1));\n    y = t*atan(2*sin(y)*cos(y)\n"
	"      /(cos(x+y)+cos(x-y)-1));\n  }\n  return x + y;\n",
	"  for (i = 0; i < n; i++)\n    x = sqrt(exp(log(x)/0.50025));\n  return x;\n",
};
static const char *const c_corrected[MISTAKES] = {"double x = 0.75", "double e[3]", "double e[4]"};

/* Generates the program with the mistakes from `first` on. */
static void make_c(struct source *s, int first)
{
	s->bytes = 0;
	s->lines = 0;
	append(s, "/* Thirty modules of one sum. */\n#include <math.h>\n\n");
	for (int m = 0; m < KINDS * COPIES; m++)
		append(s, "double module_%d(int n);\n", m);
	append(s, "\nint main(void)\n{\n  double s = 0;\n\n");
	for (int m = 0; m < KINDS * COPIES; m++)
		append(s, "  s += module_%d(%d);\n", m, ITERATIONS);
	append(s, "  return fabs(s - (%.12f)) > 1e-6;\n}\n", expected_sum());
	for (int m = 0; m < KINDS * COPIES; m++) {
		int mistake = mistake_in(m, first);
		append(s, "\ndouble module_%d(int n)\n{\n", m);
		append(s, "  %s %s\n", mistake < MISTAKES ? mistakes[mistake] : "double", c_declarations[m % KINDS]);
		append(s, "  const double t = %.3f;\n  int i, j = 0, k = 0, l = 0;\n\n", 0.49 + (m / KINDS) * 0.001);
		append(s, "%s}\n", c_bodies[m % KINDS]);
	}
	pad_with_comments(s, "//", "double", first);
}

#endif
