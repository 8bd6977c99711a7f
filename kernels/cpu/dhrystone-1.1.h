/* The procedures of Dhrystone 1.1 (Weicker 1984), reimplemented from their specification; cpu/dhrystone-1.1 includes this twice.
 *
 * The including file defines REG, the storage class of the local variables and parameters that the published program optionally declares register, and
 * NAME(x), the name of x in this copy. Procedures are numbered as published. Every parameter and result passes through SEALED, so that the
 * procedures, though in one file, are optimized as if compiled separately.
 */

static SEPARATE boolean NAME(func_3)(enum ident given)
{
	SEALED(given);
	REG enum ident local = given;
	boolean result = local == IDENT_3;
	SEALED(result);
	return result;
}

static SEPARATE void NAME(proc_6)(REG enum ident given, REG enum ident *result)
{
	SEALED(given);
	SEALED(result);
	*result = given;
	if (!NAME(func_3)(given))
		*result = IDENT_4;
	switch (given) {
	case IDENT_1:
		*result = IDENT_1;
		break;
	case IDENT_2:
		*result = int_global > 100 ? IDENT_1 : IDENT_4;
		break;
	case IDENT_3:
		*result = IDENT_2;
		break;
	case IDENT_4:
		break;
	case IDENT_5:
		*result = IDENT_3;
		break;
	}
}

static SEPARATE void NAME(proc_7)(int first, int second, int *result)
{
	SEALED(first);
	SEALED(second);
	SEALED(result);
	REG int local = first + 2;
	*result = second + local;
}

static SEPARATE void NAME(proc_3)(REG struct record **result)
{
	SEALED(result);
	if (record_global != NULL)
		*result = record_global->next;
	else
		int_global = 100;
	NAME(proc_7)(10, int_global, &record_global->number);
}

static SEPARATE void NAME(proc_1)(REG struct record *given)
{
	SEALED(given);
	REG struct record *next = given->next;
	*next = *record_global;
	given->number = 5;
	next->number = given->number;
	next->next = given->next;
	NAME(proc_3)(&next->next);
	if (next->variant == IDENT_1) {
		next->number = 6;
		NAME(proc_6)(given->kind, &next->kind);
		next->next = record_global->next;
		NAME(proc_7)(next->number, 10, &next->number);
	} else {
		*given = *next;
	}
}

static SEPARATE void NAME(proc_2)(int *changed)
{
	SEALED(changed);
	REG int local = *changed + 10;
	REG enum ident where = IDENT_2;
	for (;;) {
		if (char_1_global == 'A') {
			local--;
			*changed = local - int_global;
			where = IDENT_1;
		}
		if (where == IDENT_1)
			break;
	}
}

static SEPARATE void NAME(proc_4)(void)
{
	REG boolean local = char_1_global == 'A';
	local |= bool_global;
	SEALED(local); /* unused, but must be computed */
	char_2_global = 'B';
}

static SEPARATE void NAME(proc_5)(void)
{
	char_1_global = 'A';
	bool_global = 0;
}

static SEPARATE void NAME(proc_8)(int *one, int (*two)[SIDE], int index, int value)
{
	SEALED(one);
	SEALED(two);
	SEALED(index);
	SEALED(value);
	REG int at = index + 5;
	one[at] = value;
	one[at + 1] = one[at];
	one[at + 30] = at;
	for (REG int i = at; i <= at + 1; i++)
		two[at][i] = at;
	two[at][at - 1]++;
	two[at + 20][at] = one[at];
	int_global = 5;
}

static SEPARATE enum ident NAME(func_1)(char first, char second)
{
	SEALED(first);
	SEALED(second);
	REG char local = first;
	REG char copy = local;
	enum ident result = copy != second ? IDENT_1 : IDENT_2;
	SEALED(result);
	return result;
}

static SEPARATE boolean NAME(func_2)(const char *first, const char *second)
{
	SEALED(first);
	SEALED(second);
	REG int at = 1;
	REG char letter = 'A';
	while (at <= 1)
		if (NAME(func_1)(first[at], second[at + 1]) == IDENT_1) {
			letter = 'A';
			at++;
		}
	SEALED(letter); /* so that the comparisons below happen at run time */
	boolean result = 0;
	if (letter >= 'W' && letter <= 'Z')
		at = 7;
	if (letter == 'X')
		result = 1;
	else if (strcmp(first, second) > 0) {
		at += 7;
		result = 1;
	}
	SEALED(at);
	SEALED(result);
	return result;
}

static void NAME(proc_0)(uint64_t n, struct locals *left)
{
	int int_1 = 0, int_2 = 0, int_3 = 0;
	enum ident kind = IDENT_1;
	char string_1[TEXT], string_2[TEXT];
	strcpy(string_1, "DHRYSTONE PROGRAM, 1'ST STRING"); /* missing in 1.0 */
	for (REG uint64_t i = 0; i < n; i++) {
		NAME(proc_5)();
		NAME(proc_4)();
		int_1 = 2;
		int_2 = 3;
		strcpy(string_2, "DHRYSTONE PROGRAM, 2'ND STRING");
		kind = IDENT_2;
		bool_global = !NAME(func_2)(string_1, string_2);
		while (int_1 < int_2) {
			int_3 = 5 * int_1 - int_2;
			NAME(proc_7)(int_1, int_2, &int_3);
			int_1++;
		}
		NAME(proc_8)(array_1_global, array_2_global, int_1, int_3);
		NAME(proc_1)(record_global);
		for (REG char letter = 'A'; letter <= char_2_global; letter++)
			if (kind == NAME(func_1)(letter, 'C'))
				NAME(proc_6)(IDENT_1, &kind);
		int_3 = int_2 * int_1;
		int_2 = int_3 / int_1;
		int_2 = 7 * (int_3 - int_2) - int_1;
		NAME(proc_2)(&int_1);
	}
	left->ints[0] = int_1;
	left->ints[1] = int_2;
	left->ints[2] = int_3;
	left->kind = kind;
	strcpy(left->strings[0], string_1);
	strcpy(left->strings[1], string_2);
}
