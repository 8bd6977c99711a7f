/* kernel/big-job: program executed by the children of kernel/process. It does nothing, and has 256 KB of initialized data (hp-1987, table
 * 4.3); otherwise identical to kernel/null-job. */
#include "crt0.h"

/* a nonzero byte puts the array into .data instead of .bss */
unsigned char job_data[256 * 1024] __attribute__((used)) = {1};

int main(void)
{
	return 0;
}
