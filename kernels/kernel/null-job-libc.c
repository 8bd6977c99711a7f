/* kernel/null-job-libc: kernel/null-job, linked statically with the C library, as the programs of the document were. */
unsigned char job_data[1 * 1024] __attribute__((used)) = {1};

int main(void)
{
	return 0;
}
