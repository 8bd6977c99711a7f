/* kernel/null-job-dynamic: kernel/null-job, linked dynamically. */
unsigned char job_data[1024] __attribute__((used)) = {1};

int main(void)
{
	return 0;
}
