/* cpu/dhrystone-1.1: Dhrystone 1.1 in C, without (registers=0) and with (registers=1) register declarations (hp-1987, table 3.2).
 *
 * One operation is one pass of the main loop: 100 statements: 53 assignments, 32 control statements and 15 calls. The procedures are in
 * dhrystone-1.1.h. The check value is the number of passes, which the program itself counts in an element of its larger array, if every
 * variable has its final value, and 0 otherwise. Version 1.1 is 1.0 with the first string initialized: without that the string comparison
 * ends at the first character.
 */
#include <string.h>

#include "../runtime/kernel.h"

#define TEXT 31 /* 30 characters and the terminator */
#define SIDE 51

#ifdef __OPTIMIZE__
#define SEALED(x) OPAQUE(x)
#else
#define SEALED(x) ((void)(x)) /* without an optimizer a barrier would only add instructions */
#endif

typedef int boolean;
enum ident { IDENT_1, IDENT_2, IDENT_3, IDENT_4, IDENT_5 };

struct record {
	struct record *next;
	enum ident variant, kind;
	int number;
	char text[TEXT];
};

/* Final values of the main procedure's variables. */
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
static struct locals final_locals;

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
	memset(&final_locals, 0, sizeof final_locals);
	next_record_global = memset(&records[1], 0, sizeof records[1]);
	record_global = &records[0];
	record_global->next = next_record_global;
	record_global->variant = IDENT_1;
	record_global->kind = IDENT_3;
	record_global->number = 40;
	strcpy(record_global->text, text);
	array_2_global[8][7] = 10; /* the published program does not initialize this counter */
}

static void run(struct context *c, uint64_t n, uint64_t *check)
{
	(void)c;
	(void)check;
	CLOBBER();
	if (registers)
		proc_0_register(n, &final_locals);
	else
		proc_0_plain(n, &final_locals);
	CLOBBER();
}

static int record_equals(const struct record *r, enum ident kind, int number)
{
	return r->next == next_record_global && r->variant == IDENT_1 && r->kind == kind && r->number == number &&
	       strcmp(r->text, text) == 0;
}

/* Final values derived from the published text; the array elements cover every loop and index. */
static void finish(struct context *c, uint64_t n, uint64_t *check)
{
	(void)c;
	(void)n;
	int *one = array_1_global, (*two)[SIDE] = array_2_global;
	int correct = int_global == 5 && bool_global == 1 && char_1_global == 'A' && char_2_global == 'B' &&
		    one[8] == 7 && one[9] == 7 && one[38] == 8 && two[8][8] == 8 && two[8][9] == 8 && two[28][8] == 7 &&
		    record_equals(record_global, IDENT_3, 17) && record_equals(next_record_global, IDENT_2, 18) &&
		    final_locals.ints[0] == 7 && final_locals.ints[1] == 39 && final_locals.ints[2] == 9 && final_locals.kind == IDENT_2 &&
		    strcmp(final_locals.strings[0], "DHRYSTONE PROGRAM, 1'ST STRING") == 0 &&
		    strcmp(final_locals.strings[1], "DHRYSTONE PROGRAM, 2'ND STRING") == 0;
	*check = correct ? (uint64_t)(two[8][7] - 10) : 0;
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
