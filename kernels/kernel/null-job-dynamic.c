/* kernel/null-job-dynamic: kernel/null-job with a C library that it is linked with dynamically. */
unsigned char job_data[1024] __attribute__((used)) = {1};

int main(void)
{
	return 0;
}
