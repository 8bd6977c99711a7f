/* Terminal emulator, 24 lines of 80 columns: the subset of VT100 that shells and editors use.
 *
 * Unknown sequences are ignored. A non-ASCII character occupies one cell, as '?'.
 */
#ifndef GRITSTONE_MULTIUSER_TERMINAL_H
#define GRITSTONE_MULTIUSER_TERMINAL_H

#include <stdlib.h>
#include <string.h>

enum { ROWS = 24, COLUMNS = 80, NUMBERS = 8 };

struct terminal {
	char cell[ROWS][COLUMNS + 1];
	int row, column, saved_row, saved_column;
	int top, bottom; /* scrolling region */
	int full; /* last column written: the next character wraps */
	enum { TEXT, ESCAPE, SEQUENCE, SKIP_ONE, STRING, STRING_ESCAPE } state;
	int number[NUMBERS], numbers;
	char private;
};

static inline void erase(struct terminal *t, int row, int from, int to)
{
	memset(t->cell[row] + from, ' ', (size_t)(to - from));
	t->cell[row][COLUMNS] = '\0';
}

static inline void terminal_reset(struct terminal *t)
{
	memset(t, 0, sizeof *t);
	t->bottom = ROWS - 1;
	for (int row = 0; row < ROWS; row++)
		erase(t, row, 0, COLUMNS);
}

/* Scrolls up for by > 0, else down. */
static inline void scroll(struct terminal *t, int top, int bottom, int by)
{
	const int lines = bottom - top + 1;
	int distance = abs(by) < lines ? abs(by) : lines;
	size_t remaining = (size_t)(lines - distance) * sizeof *t->cell;
	memmove(t->cell[by > 0 ? top : top + distance], t->cell[by > 0 ? top + distance : top], remaining);
	for (int i = 0; i < distance; i++)
		erase(t, by > 0 ? bottom - i : top + i, 0, COLUMNS);
}

static inline void go_to(struct terminal *t, int row, int column)
{
	t->row = row < 0 ? 0 : row >= ROWS ? ROWS - 1 : row;
	t->column = column < 0 ? 0 : column >= COLUMNS ? COLUMNS - 1 : column;
	t->full = 0;
}

static inline void line_feed(struct terminal *t)
{
	if (t->row == t->bottom)
		scroll(t, t->top, t->bottom, 1);
	else
		go_to(t, t->row + 1, t->column);
	t->full = 0;
}

static inline void reverse_feed(struct terminal *t)
{
	if (t->row == t->top)
		scroll(t, t->top, t->bottom, -1);
	else
		go_to(t, t->row - 1, t->column);
}

static inline void put_character(struct terminal *t, char c)
{
	if (t->full) {
		t->column = 0;
		line_feed(t);
	}
	t->cell[t->row][t->column] = c;
	t->full = t->column == COLUMNS - 1;
	t->column += !t->full;
}

static inline void control(struct terminal *t, char c)
{
	switch (c) {
	case '\b': go_to(t, t->row, t->column - 1); break;
	case '\t': go_to(t, t->row, (t->column / 8 + 1) * 8); break;
	case '\n': case '\v': case '\f': line_feed(t); break;
	case '\r': go_to(t, t->row, 0); break;
	case '\033': t->state = ESCAPE; break;
	default: break;
	}
}

/* The character after ESC. */
static inline void escape(struct terminal *t, char c)
{
	t->state = TEXT;
	switch (c) {
	case '[':
		t->state = SEQUENCE;
		t->numbers = 0;
		t->private = 0;
		memset(t->number, 0, sizeof t->number);
		break;
	case '\033': t->state = ESCAPE; break;
	case ']': case 'P': case '^': case '_': t->state = STRING; break;
	case '(': case ')': case '#': case '%': t->state = SKIP_ONE; break;
	case 'D': line_feed(t); break;
	case 'E': line_feed(t); t->column = 0; break;
	case 'M': reverse_feed(t); break;
	case '7': t->saved_row = t->row; t->saved_column = t->column; break;
	case '8': go_to(t, t->saved_row, t->saved_column); break;
	case 'c': terminal_reset(t); break;
	default: break;
	}
}

static inline void erase_lines(struct terminal *t, int how)
{
	for (int row = 0; row < ROWS; row++)
		if (how == 2 || (how == 0 && row > t->row) || (how == 1 && row < t->row))
			erase(t, row, 0, COLUMNS);
}

/* Shifts the rest of the line from the cursor: right for by > 0. */
static inline void shift(struct terminal *t, int by)
{
	char *line = t->cell[t->row];
	int room = COLUMNS - t->column, distance = abs(by) < room ? abs(by) : room;
	size_t remaining = (size_t)(room - distance);
	memmove(line + t->column + (by > 0 ? distance : 0), line + t->column + (by > 0 ? 0 : distance), remaining);
	erase(t, t->row, by > 0 ? t->column : COLUMNS - distance, by > 0 ? t->column + distance : COLUMNS);
}

/* Final character c of a control sequence ESC [ numbers c. */
static inline void sequence(struct terminal *t, char c)
{
	int first = t->number[0], one = first > 0 ? first : 1, second = t->number[1];
	int inside = t->row >= t->top && t->row <= t->bottom;
	t->state = TEXT;
	if (t->private != 0)
		return;
	switch (c) {
	case 'A': go_to(t, t->row - one, t->column); break;
	case 'B': case 'e': go_to(t, t->row + one, t->column); break;
	case 'C': case 'a': go_to(t, t->row, t->column + one); break;
	case 'D': go_to(t, t->row, t->column - one); break;
	case 'G': case '`': go_to(t, t->row, one - 1); break;
	case 'd': go_to(t, one - 1, t->column); break;
	case 'H': case 'f': go_to(t, one - 1, second > 0 ? second - 1 : 0); break;
	case 'J':
		if (first < 2)
			erase(t, t->row, first == 0 ? t->column : 0, first == 0 ? COLUMNS : t->column + 1);
		erase_lines(t, first);
		break;
	case 'K': erase(t, t->row, first == 0 ? t->column : 0, first == 1 ? t->column + 1 : COLUMNS); break;
	case 'L': if (inside) scroll(t, t->row, t->bottom, -one); break;
	case 'M': if (inside) scroll(t, t->row, t->bottom, one); break;
	case 'S': scroll(t, t->top, t->bottom, one); break;
	case 'T': scroll(t, t->top, t->bottom, -one); break;
	case '@': shift(t, one); break;
	case 'P': shift(t, -one); break;
	case 'r':
		t->top = one - 1 < ROWS ? one - 1 : 0;
		t->bottom = second > t->top && second <= ROWS ? second - 1 : ROWS - 1;
		go_to(t, 0, 0);
		break;
	default: break;
	}
}

static inline void parse_sequence(struct terminal *t, char c)
{
	if (c >= '0' && c <= '9') {
		if (t->numbers < NUMBERS && t->number[t->numbers] < 10000)
			t->number[t->numbers] = t->number[t->numbers] * 10 + (c - '0');
	} else if (c == ';') {
		t->numbers += t->numbers < NUMBERS;
	} else if (c >= '<' && c <= '?') {
		t->private = c;
	} else if (c >= '@' && c <= '~') {
		sequence(t, c);
	} else if (c == '\033') {
		t->state = ESCAPE;
	} else if (c >= ' ' && c <= '/') {
		t->private = c;
	} else {
		control(t, c);
	}
}

static inline void terminal_feed(struct terminal *t, char c)
{
	switch (t->state) {
	case ESCAPE: escape(t, c); break;
	case SEQUENCE: parse_sequence(t, c); break;
	case SKIP_ONE: t->state = TEXT; break;
	case STRING: t->state = c == '\a' ? TEXT : c == '\033' ? STRING_ESCAPE : STRING; break;
	case STRING_ESCAPE: t->state = TEXT; break;
	case TEXT:
		if (((unsigned char)c & 0xc0) == 0x80)
			break; /* UTF-8 continuation byte */
		if ((unsigned char)c < ' ' || c == 0x7f)
			control(t, c);
		else
			put_character(t, (unsigned char)c >= 0x80 ? '?' : c);
		break;
	}
}

#endif
