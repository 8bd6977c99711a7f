/* Planted: says rubbish, without end. */
#include <unistd.h>
#include "../runtime/kernel.h"
static void run(struct context *c, uint64_t n, uint64_t *check)
{
	(void)c; (void)n; (void)check;
	for (;;)
		if (write(3, "\x7f" "ELF rubbish\n\xff\xfe", 15) < 0)
			_exit(1);
}
const struct kernel kernel = {.name = "planted/rubbish", .run = run};
