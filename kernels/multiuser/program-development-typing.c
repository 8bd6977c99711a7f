/* multiuser/program-development@typing: the same with typing speed and think time; the result is the number of users (typing.h). */
#define TYPING 1
#define NAME "multiuser/program-development-typing"
#include "program-development.c"
