/* cpu/dhrystone-1.1: Dhrystone 1.1 in C, without (registers=0) and with (registers=1) register declarations (hp-1987, table
 * 3.2).
 *
 * One operation is one pass of the main loop: 100 statements, of them 53 assignments, 32 of control and 15 calls. What the
 * procedures do is in dhrystone-1.1.h. The check value is the number of passes, which the program itself counts in
 * an element of its larger array, if every variable is as a pass leaves it, and 0 otherwise. Version 1.1 is 1.0 with the
 * first string set: without it the comparison of strings ends at its first character.
 */
#include <string.h>

#include "../runtime/kernel.h"

#define TEXT 31 /* 30 characters and the end */
#define SIDE 51

#ifdef __OPTIMIZE__
#define SEALED(x) OPAQUE(x)
#else
#define SEALED(x) ((void)(x)) /* there is no optimizer to hide anything from, and a seal would cost instructions */
#endif

typedef int boolean;
enum ident { IDENT_1, IDENT_2, IDENT_3, IDENT_4, IDENT_5 };

struct record {
	struct record *next;
	enum ident variant, kind;
	int number;
	char text[TEXT];
};

/* What the main procedure's variables were at its end. */
struct locals {
	int ints[3];
	enum ident kind;
	char strings[2][TEXT];
};

static int int_global;
static boolean bool_global;
static char char_1_global, char_2_global;
static int array_1_global[SIDE], array_2_global[SIDE][SIDE];
static struct record *record_global, *next_record_global, records[2];

#define REG
#define NAME(x) x##_plain
#include "dhrystone-1.1.h"
#undef REG
#undef NAME

#define REG register
#define NAME(x) x##_register
#include "dhrystone-1.1.h"
#undef REG
#undef NAME

static const char text[] = "DHRYSTONE PROGRAM, SOME STRING";
static uint64_t registers;
static struct locals left;

static void setup(struct context *c)
{
	registers = parameter_u64(c, "registers", 0);
	if (registers > 1)
		wrong_arguments(c, "registers=%u is neither 0 nor 1", (unsigned)registers);
}

static void prepare(struct context *c, uint64_t n)
{
	(void)c;
	(void)n;
	int_global = bool_global = char_1_global = char_2_global = 0;
	memset(array_1_global, 0, sizeof array_1_global);
	memset(array_2_global, 0, sizeof array_2_global);
	memset(&left, 0, sizeof left);
	next_record_global = memset(&records[1], 0, sizeof records[1]);
	record_global = &records[0];
	record_global->next = next_record_global;
	record_global->variant = IDENT_1;
	record_global->kind = IDENT_3;
	record_global->number = 40;
	strcpy(record_global->text, text);
	array_2_global[8][7] = 10; /* the published program begins to count where it finds it */
}

static void run(struct context *c, uint64_t n, uint64_t *check)
{
	(void)c;
	(void)check;
	CLOBBER();
	if (registers)
		proc_0_register(n, &left);
	else
		proc_0_plain(n, &left);
	CLOBBER();
}

static int record_is(const struct record *r, enum ident kind, int number)
{
	return r->next == next_record_global && r->variant == IDENT_1 && r->kind == kind && r->number == number &&
	       strcmp(r->text, text) == 0;
}

/* The values follow from the published text by hand; two ints of the arrays stand for each loop and index there is. */
static void finish(struct context *c, uint64_t n, uint64_t *check)
{
	(void)c;
	(void)n;
	int *one = array_1_global, (*two)[SIDE] = array_2_global;
	int right = int_global == 5 && bool_global == 1 && char_1_global == 'A' && char_2_global == 'B' &&
		    one[8] == 7 && one[9] == 7 && one[38] == 8 && two[8][8] == 8 && two[8][9] == 8 && two[28][8] == 7 &&
		    record_is(record_global, IDENT_3, 17) && record_is(next_record_global, IDENT_2, 18) &&
		    left.ints[0] == 7 && left.ints[1] == 39 && left.ints[2] == 9 && left.kind == IDENT_2 &&
		    strcmp(left.strings[0], "DHRYSTONE PROGRAM, 1'ST STRING") == 0 &&
		    strcmp(left.strings[1], "DHRYSTONE PROGRAM, 2'ND STRING") == 0;
	*check = right ? (uint64_t)(two[8][7] - 10) : 0;
}

static uint64_t expect(struct context *c, uint64_t n)
{
	(void)c;
	return n;
}

const struct kernel kernel = {
	.name = "cpu/dhrystone-1.1",
	.setup = setup,
	.prepare = prepare,
	.run = run,
	.finish = finish,
	.expect = expect,
};
