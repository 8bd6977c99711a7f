/* Planted: its third call fails. */
#include <fcntl.h>
#include "../runtime/kernel.h"
static int calls;
static void run(struct context *c, uint64_t n, uint64_t *check)
{
	(void)n; (void)check;
	if (++calls == 3 && open("/nonexistent/file", O_RDONLY) < 0)
		failed(c, "open");
}
const struct kernel kernel = {.name = "planted/fails", .run = run};
