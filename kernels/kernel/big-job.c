/* kernel/big-job: what a child of kernel/process executes. It does nothing, and has 256 KB of data in its file (hp-1987, table
 * 4.3). It differs from kernel/null-job in nothing else. */
#include "crt0.h"

/* one byte that is not 0 puts all of them into the file */
unsigned char job_data[256 * 1024] __attribute__((used)) = {1};

int main(void)
{
	return 0;
}
