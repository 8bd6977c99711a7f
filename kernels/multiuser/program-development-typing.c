/* multiuser/program-development@typing: the same with people who type and think, whose number is what is found (typing.h). */
#define TYPING 1
#define NAME "multiuser/program-development-typing"
#include "program-development.c"
