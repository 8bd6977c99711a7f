/* kernel/null-job-dynamic: kernel/null-job, linked dynamically with the C library. */
unsigned char job_data[1024] __attribute__((used)) = {1};

int main(void)
{
	return 0;
}
