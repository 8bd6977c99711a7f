/* The program of the users in Fortran. */
#ifndef GRITSTONE_MULTIUSER_FORTRAN_H
#define GRITSTONE_MULTIUSER_FORTRAN_H

#include "source.h"

#define DOUBLE "double precision"

/* What is between the declarations and the sum of a module, by kind: four variables, an array of four, jumps, whole numbers, angles, functions. */
static const char *const fortran_declares[KINDS] = {":: x1, x2, x3, x4", ":: e(4)", ":: r", ":: e(3)", ":: x, y", ":: x"};
static const char *const fortran_does[KINDS] = {
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

/* The program in which the mistakes from `first` on still are. */
static void make_fortran(struct source *s, int first)
{
	s->bytes = 0;
	s->lines = 0;
	say(s, "! Thirty modules of one sum.\nprogram modules\n  implicit none\n  " DOUBLE " :: s\n  s = 0.0d0\n");
	for (int m = 0; m < KINDS * COPIES; m++)
		say(s, "  call module_%d(s, %d)\n", m, TURNS);
	say(s, "  if (abs(s - (%.12fd0)) > 1d-6) stop 1\nend program\n", sum_of_all());
	for (int m = 0; m < KINDS * COPIES; m++) {
		int mistake = mistake_in(m, first);
		say(s, "\nsubroutine module_%d(s, n)\n  implicit none\n  " DOUBLE " :: s\n", m);
		say(s, "  %s %s\n", mistake < MISTAKES ? mistakes[mistake] : DOUBLE, fortran_declares[m % KINDS]);
		say(s, "  " DOUBLE ", parameter :: t = %.3fd0\n  integer :: i, j, k, l, n\n", 0.49 + (m / KINDS) * 0.001);
		say(s, "%send subroutine\n", fortran_does[m % KINDS]);
	}
	fill(s, "!", DOUBLE, first);
}

#endif
