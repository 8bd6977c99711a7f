/* kernel/null-job: what a child of kernel/process executes. It does nothing, and has 1 KB of data in its file (hp-1987, table
 * 4.3). It starts without a C library, as programs nearly did when a library's startup called main and little else; one of today first asks the
 * processor what it can do. The null job and the big job differ in nothing but their data. */
#include "crt0.h"

/* one byte that is not 0 puts all of them into the file */
unsigned char job_data[1 * 1024] __attribute__((used)) = {1};

int main(void)
{
	return 0;
}
