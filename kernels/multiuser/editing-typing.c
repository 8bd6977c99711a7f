/* multiuser/editing@typing: the same with typing speed and think time; the result is the number of users (typing.h). */
#define TYPING 1
#define NAME "multiuser/editing-typing"
#include "editing.c"
