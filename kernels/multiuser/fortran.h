/* What the users of program development write: a program in Fortran of 930 lines and 20,000 bytes with three mistakes in it, made of the
 * modules of the Whetstone benchmark in double precision, as in hp-1987, section 2. It ends well where its sum is the one that is computed here.
 */
#ifndef GRITSTONE_MULTIUSER_FORTRAN_H
#define GRITSTONE_MULTIUSER_FORTRAN_H

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { KINDS = 6, COPIES = 5, TURNS = 2000, SOURCE_LINES = 930, SOURCE_BYTES = 20000 };

/* Words where a type should stand: one compilation finds all three, the next the last of them. */
static const char *const mistakes[] = {"wrong_a", "wrong_b", "wrong_c"};
enum { MISTAKES = sizeof mistakes / sizeof *mistakes };
#define TYPE "double precision"

struct source {
	char text[SOURCE_BYTES + 4096];
	size_t bytes;
	int lines;
};

__attribute__((format(printf, 2, 3))) static void say(struct source *s, const char *format, ...)
{
	va_list rest;
	va_start(rest, format);
	int more = vsnprintf(s->text + s->bytes, sizeof s->text - s->bytes, format, rest);
	va_end(rest);
	for (int i = 0; i < more; i++)
		s->lines += s->text[s->bytes + (size_t)i] == '\n';
	s->bytes += (size_t)more;
}

/* What is between the declarations and the sum of a module, by kind: four variables, an array of four, jumps, whole numbers, angles, functions. */
static const char *const declared[KINDS] = {":: x1, x2, x3, x4", ":: e(4)", ":: r", ":: e(3)", ":: x, y", ":: x"};
static const char *const body[KINDS] = {
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

/* The same in C. */
static double computed(int kind, double t)
{
	double x[4] = {1, -1, -1, -1}, e[4] = {0}, a = kind == 5 ? 0.75 : 0.5, b = 0.5, r = 0;
	int j = 1, k = 2, l = 3;
	for (int i = 0; i < TURNS; i++) {
		if (kind < 2) {
			x[0] = (x[0] + x[1] + x[2] - x[3]) * t;
			x[1] = (x[0] + x[1] - x[2] + x[3]) * t;
			x[2] = (x[0] - x[1] + x[2] + x[3]) * t;
			x[3] = (x[1] - x[0] + x[2] + x[3]) * t;
		} else if (kind == 2) {
			j = j == 1 ? 2 : 3;
			j = j > 2 ? 0 : 1;
			j = j < 1;
			r += j;
		} else if (kind == 3) {
			j = j * (k - j) * (l - k);
			k = l * k - (l - j) * k;
			l = (l - k) * (k + j);
			e[l - 1] = j + k + l;
			e[k - 1] = j * k * l;
		} else if (kind == 4) {
			a = t * atan(2 * sin(a) * cos(a) / (cos(a + b) + cos(a - b) - 1));
			b = t * atan(2 * sin(b) * cos(b) / (cos(a + b) + cos(a - b) - 1));
		} else {
			a = sqrt(exp(log(a) / 0.50025));
		}
	}
	return kind < 2 ? x[3] : kind == 2 ? r : kind == 3 ? e[1] + e[2] : kind == 4 ? a + b : a;
}

/* The program in which the mistakes from `first` on still are. Comments make up its size. */
static void make_source(struct source *s, int first)
{
	double sum = 0;
	s->bytes = 0;
	s->lines = 0;
	say(s, "! Thirty modules of one sum.\nprogram modules\n  implicit none\n  " TYPE " :: s\n  s = 0.0d0\n");
	for (int m = 0; m < KINDS * COPIES; m++)
		say(s, "  call module_%d(s, %d)\n", m, TURNS);
	for (int m = 0; m < KINDS * COPIES; m++)
		sum += computed(m % KINDS, 0.49 + (m / KINDS) * 0.001);
	say(s, "  if (abs(s - (%.12fd0)) > 1d-6) stop 1\nend program\n", sum);
	for (int m = 0; m < KINDS * COPIES; m++) {
		int mistake = m % 10 == 5 ? m / 10 : MISTAKES;
		say(s, "\nsubroutine module_%d(s, n)\n  implicit none\n  " TYPE " :: s\n", m);
		say(s, "  %s %s\n", mistake < MISTAKES && mistake >= first ? mistakes[mistake] : TYPE, declared[m % KINDS]);
		say(s, "  " TYPE ", parameter :: t = %.3fd0\n  integer :: i, j, k, l, n\n", 0.49 + (m / KINDS) * 0.001);
		say(s, "%send subroutine\n", body[m % KINDS]);
	}
	int left = SOURCE_LINES - s->lines, still = 0;
	for (int m = first; m < MISTAKES; m++) /* every edition is made longer by the same comments */
		still += (int)(sizeof TYPE - 1 - strlen(mistakes[m]));
	int room = SOURCE_BYTES - (int)s->bytes - still;
	for (int i = 0; i < left && room > left; i++) {
		int here = room / left + (i < room % left);
		say(s, "!%*s\n", here - 2, "");
	}
}

#endif
