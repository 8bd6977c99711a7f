/* Load that writes continuously to a device of infinite speed: level 2 of the loads of hp-1987, section 5. There it was an instrument on
 * HP-IB; here it is the stand-in of tests #10 and #11, a pseudo-terminal with a process that reads each message at once and reports
 * completion, so that the writer sleeps, wakes and enters a driver each time. Messages have 80 bytes, the larger of the sizes of tests #10
 * to #13. */
#define _GNU_SOURCE
#include <signal.h>
#include <sys/prctl.h>

#include "../rt/instrument.h"
#include "../runtime/terminal.h"
#include "load_program.h"

#define REPORT_INTERVAL 2000

int main(void)
{
	static const char message[80];
	int slave, master;
	struct instrument *instrument = create_instrument();
	const char *call = open_pty_pair(&slave, &master);
	if (call != NULL)
		exit_with(SKIPPED, "no pseudo-terminal: %s: %s; mount devpts on /dev/pts with more of them", call, strerror(errno));
	if (instrument == MAP_FAILED)
		exit_with(FAILED, "mmap: %s", strerror(errno));
	pid_t parent = getpid(), device = fork();
	if (device < 0)
		exit_with(SKIPPED, "no process for the device: %s; raise the limit with ulimit -u", strerror(errno));
	if (device == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() == parent)
			serve_requests(instrument, master, sizeof message);
		_exit(1);
	}
	for (uint64_t done = 0;; done++) {
		uint32_t before = atomic_load(&instrument->requests);
		if (write(slave, message, sizeof message) != sizeof message)
			exit_with(FAILED, "cannot write to the pseudo-terminal: %s", strerror(errno));
		await_completion(instrument, before);
		if (done % REPORT_INTERVAL == 0)
			report_progress(done, "writes of 80 bytes");
	}
}
