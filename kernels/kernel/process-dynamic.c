/* kernel/process-dynamic: kernel/process, linked dynamically, which changes the pages to copy and the calls into the library. */
#define NAME "kernel/process-dynamic"
#include "process.c"
