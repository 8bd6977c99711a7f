/* The users' program in Fortran. */
#ifndef GRITSTONE_MULTIUSER_FORTRAN_H
#define GRITSTONE_MULTIUSER_FORTRAN_H

#include "source.h"

#define DOUBLE "double precision"

/* Declarations and bodies of the kinds of modules: scalars, array of four, jumps, integers, trigonometric functions, standard functions. */
static const char *const fortran_declarations[KINDS] = {":: x1, x2, x3, x4", ":: e(4)", ":: r", ":: e(3)", ":: x, y", ":: x"};
static const char *const fortran_bodies[KINDS] = {
	"  x1 = 1.0d0\n  x2 = -1.0d0\n  x3 = -1.0d0\n  x4 = -1.0d0\n  do i = 1, n\n    x1 = (x1+x2+x3-x4)*t\n    x2 = (x1+x2-x3+x4)*t\n"
	"    x3 = (x1-x2+x3+x4)*t\n    x4 = (x2-x1+x3+x4)*t\n  end do\n  s = s + x4\n",
	"  e = -1.0d0\n  e(1) = 1.0d0\n  do i = 1, n\n    e(1) = (e(1)+e(2)+e(3)-e(4))*t\n    e(2) = (e(1)+e(2)-e(3)+e(4))*t\n"
	"    e(3) = (e(1)-e(2)+e(3)+e(4))*t\n    e(4) = (e(2)-e(1)+e(3)+e(4))*t\n  end do\n  s = s + e(4)\n",
	"  j = 1\n  r = 0.0d0\n  do i = 1, n\n    if (j == 1) then\n      j = 2\n    else\n      j = 3\n    end if\n    if (j > 2) then\n      j = 0\n"
	"    else\n      j = 1\n    end if\n    if (j < 1) then\n      j = 1\n    else\n      j = 0\n    end if\n    r = r + j\n  end do\n  s = s + r\n",
	"  j = 1\n  k = 2\n  l = 3\n  do i = 1, n\n    j = j*(k-j)*(l-k)\n    k = l*k - (l-j)*k\n    l = (l-k)*(k+j)\n    e(l-1) = j + k + l\n"
	"    e(k-1) = j*k*l\n  end do\n  s = s + e(1) + e(2)\n",
	"  x = 0.5d0\n  y = 0.5d0\n  do i = 1, n\n    x = t*atan(2*sin(x)*cos(x) &\n      /(cos(x+y)+cos(x-y)-1))\n    y = t*atan(2*sin(y)*cos(y) &\n"
	"      /(cos(x+y)+cos(x-y)-1))\n  end do\n  s = s + x + y\n",
	"  x = 0.75d0\n  do i = 1, n\n    x = sqrt(exp(log(x)/0.50025d0))\n  end do\n  s = s + x\n",
};

static const char *const fortran_corrected[MISTAKES] = {DOUBLE " :: x", DOUBLE " :: e(3)", DOUBLE " :: e(4)"};

/* Generates the program with the mistakes from `first` on. */
static void make_fortran(struct source *s, int first)
{
	s->bytes = 0;
	s->lines = 0;
	append(s, "! Thirty modules of one sum.\nprogram modules\n  implicit none\n  " DOUBLE " :: s\n  s = 0.0d0\n");
	for (int m = 0; m < KINDS * COPIES; m++)
		append(s, "  call module_%d(s, %d)\n", m, ITERATIONS);
	append(s, "  if (abs(s - (%.12fd0)) > 1d-6) stop 1\nend program\n", expected_sum());
	for (int m = 0; m < KINDS * COPIES; m++) {
		int mistake = mistake_in(m, first);
		append(s, "\nsubroutine module_%d(s, n)\n  implicit none\n  " DOUBLE " :: s\n", m);
		append(s, "  %s %s\n", mistake < MISTAKES ? mistakes[mistake] : DOUBLE, fortran_declarations[m % KINDS]);
		append(s, "  " DOUBLE ", parameter :: t = %.3fd0\n  integer :: i, j, k, l, n\n", 0.49 + (m / KINDS) * 0.001);
		append(s, "%send subroutine\n", fortran_bodies[m % KINDS]);
	}
	pad_with_comments(s, "!", DOUBLE, first);
}

#endif
