/* The modules of the Whetstone program in C; whetstone-c.c includes this twice, with the type `real`, the mathematical FUNCTION(f) of that
 * type, and NAME(x), the name of x in this copy. As explained in whetstone.inc, the three procedures are called through pointers, and
 * initial values come from the caller.
 */
static real NAME(t), NAME(t1), NAME(t2), NAME(e1)[4];
static int NAME(j), NAME(k), NAME(l);

static void NAME(p0)(void)
{
	real *e1 = NAME(e1);
	e1[NAME(j) - 1] = e1[NAME(k) - 1];
	e1[NAME(k) - 1] = e1[NAME(l) - 1];
	e1[NAME(l) - 1] = e1[NAME(j) - 1];
}

static void NAME(p3)(const void *x, const void *y, void *z)
{
	real t = NAME(t), x1 = *(const real *)x, y1 = *(const real *)y;
	x1 = t * (x1 + y1);
	y1 = t * (x1 + y1);
	*(real *)z = (x1 + y1) / NAME(t2);
}

static void NAME(pa)(void *array)
{
	real *e = array;
	for (int i = 0; i < 6; i++) {
		e[0] = (e[0] + e[1] + e[2] - e[3]) * NAME(t);
		e[1] = (e[0] + e[1] - e[2] + e[3]) * NAME(t);
		e[2] = (e[0] - e[1] + e[2] + e[3]) * NAME(t);
		e[3] = (-e[0] + e[1] + e[2] + e[3]) / NAME(t2);
	}
}

static void NAME(store)(double out[4], real a, real b, real c, real d)
{
	out[0] = (double)a;
	out[1] = (double)b;
	out[2] = (double)c;
	out[3] = (double)d;
}

/* Modules 1 to 5: floating point in identifiers, an array, an array as parameter; conditional jumps. */
static void NAME(first_half)(const int n[MODULES], int first, double out[MODULES][4], call_pa *pa)
{
	real t = NAME(t), x1 = (real)first, x2 = -x1, x3 = -x1, x4 = -x1, *e1 = NAME(e1);
	for (int i = 0; i < n[0]; i++) {
		x1 = (x1 + x2 + x3 - x4) * t;
		x2 = (x1 + x2 - x3 + x4) * t;
		x3 = (x1 - x2 + x3 + x4) * t;
		x4 = (-x1 + x2 + x3 + x4) * t;
	}
	NAME(store)(out[0], x1, x2, x3, x4);
	e1[0] = (real)first;
	e1[1] = e1[2] = e1[3] = -e1[0];
	for (int i = 0; i < n[1]; i++) {
		e1[0] = (e1[0] + e1[1] + e1[2] - e1[3]) * NAME(t);
		e1[1] = (e1[0] + e1[1] - e1[2] + e1[3]) * NAME(t);
		e1[2] = (e1[0] - e1[1] + e1[2] + e1[3]) * NAME(t);
		e1[3] = (-e1[0] + e1[1] + e1[2] + e1[3]) * NAME(t);
	}
	NAME(store)(out[1], e1[0], e1[1], e1[2], e1[3]);
	for (int i = 0; i < n[2]; i++)
		pa(e1);
	NAME(store)(out[2], e1[0], e1[1], e1[2], e1[3]);
	int j = first;
	for (int i = 0; i < n[3]; i++) {
		if (j == 1)
			j = 2;
		else
			j = 3;
		if (j > 2)
			j = 0;
		else
			j = 1;
		if (j < 1)
			j = 1;
		else
			j = 0;
	}
	NAME(store)(out[3], (real)j, 0, 0, 0);
	NAME(store)(out[4], 0, 0, 0, 0);
}

/* Modules 6 to 8: integer arithmetic, trigonometric functions, procedure calls. */
static void NAME(second_half)(const int n[MODULES], int first, double out[MODULES][4], call_p3 *p3)
{
	int j = first, k = first + 1, l = first + 2;
	real t = NAME(t), t2 = NAME(t2), *e1 = NAME(e1);
	for (int i = 0; i < n[5]; i++) {
		j = j * (k - j) * (l - k);
		k = l * k - (l - j) * k;
		l = (l - k) * (k + j);
		e1[l - 2] = (real)(j + k + l);
		e1[k - 2] = (real)(j * k * l);
	}
	NAME(store)(out[5], (real)(j + 10 * k + 100 * l), e1[0], e1[1], 0);
	real x = (real)0.5 * (real)first, y = x;
	for (int i = 0; i < n[6]; i++) {
		x = t * FUNCTION(atan)(t2 * FUNCTION(sin)(x) * FUNCTION(cos)(x) /
				       (FUNCTION(cos)(x + y) + FUNCTION(cos)(x - y) - 1));
		y = t * FUNCTION(atan)(t2 * FUNCTION(sin)(y) * FUNCTION(cos)(y) /
				       (FUNCTION(cos)(x + y) + FUNCTION(cos)(x - y) - 1));
	}
	NAME(store)(out[6], x, y, 0, 0);
	real z = (real)first;
	x = y = z;
	for (int i = 0; i < n[7]; i++)
		p3(&x, &y, &z);
	NAME(store)(out[7], x, y, z, 0);
}

static void NAME(loop)(const int n[MODULES], const double constants[3], const int *one_, double out[MODULES][4],
		       call_p0 *p0, call_p3 *p3, call_pa *pa)
{
	int first = *one_;
	real *e1 = NAME(e1);
	NAME(t) = (real)constants[0];
	NAME(t1) = (real)constants[1];
	NAME(t2) = (real)constants[2];
	NAME(first_half)(n, first, out, pa);
	NAME(second_half)(n, first, out, p3);
	NAME(j) = first; /* array references */
	NAME(k) = first + 1;
	NAME(l) = first + 2;
	e1[0] = (real)NAME(j);
	e1[1] = (real)NAME(k);
	e1[2] = (real)NAME(l);
	for (int i = 0; i < n[8]; i++)
		p0();
	NAME(store)(out[8], e1[0], e1[1], e1[2], 0);
	int j = first + 1, k = first + 2; /* integer arithmetic */
	for (int i = 0; i < n[9]; i++) {
		j = j + k;
		k = j + k;
		j = k - j;
		k = k - j - j;
	}
	NAME(store)(out[9], (real)j, (real)k, 0, 0);
	real x = (real)0.75 * (real)first; /* standard functions */
	for (int i = 0; i < n[10]; i++)
		x = FUNCTION(sqrt)(FUNCTION(exp)(FUNCTION(log)(x) / NAME(t1)));
	NAME(store)(out[10], x, 0, 0, 0);
}
