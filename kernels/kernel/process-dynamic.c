/* kernel/process-dynamic: kernel/process, linked dynamically: what there is to copy, and how a library's calls are reached, is other. */
#define NAME "kernel/process-dynamic"
#include "process.c"
