/* kernel/null-job: program executed by the children of kernel/process. It does nothing, and has 1 KB of initialized data (hp-1987, table
 * 4.3). It starts without a C library, whose startup code did little more than call main in 1987 and probes the processor today. The null
 * job and the big job differ only in their data. */
#include "crt0.h"

/* a nonzero byte puts the array into .data instead of .bss */
unsigned char job_data[1 * 1024] __attribute__((used)) = {1};

int main(void)
{
	return 0;
}
