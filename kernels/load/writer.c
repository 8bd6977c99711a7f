/* A program that writes without pause to a device of infinite speed: what level 2 of the loads of hp-1987, section 5, adds.
 * There it was an instrument on HP-IB; here it is the stand-in of tests #10 and #11, a pseudo-terminal with a process that takes each message at
 * once, and that the writer waits for: so it sleeps, is woken and enters a driver each time. Messages have 80 bytes, the larger of
 * those of tests #10 to #13. */
#define _GNU_SOURCE
#include <signal.h>
#include <sys/prctl.h>

#include "../rt/instrument.h"
#include "../runtime/terminal.h"
#include "load_program.h"

#define BETWEEN_NEWS 2000

int main(void)
{
	static const char message[80];
	int user, far;
	struct instrument *instrument = make_instrument();
	const char *call = make_terminal(&user, &far);
	if (call != NULL)
		leave(CANNOT, "no pseudo-terminal: %s: %s; mount devpts on /dev/pts with more of them", call, strerror(errno));
	if (instrument == MAP_FAILED)
		leave(FAILS, "mmap: %s", strerror(errno));
	pid_t parent = getpid(), device = fork();
	if (device < 0)
		leave(CANNOT, "no process for the device: %s; raise the limit with ulimit -u", strerror(errno));
	if (device == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() == parent)
			take_requests(instrument, far, sizeof message);
		_exit(1);
	}
	for (uint64_t done = 0;; done++) {
		uint32_t before = atomic_load(&instrument->requests);
		if (write(user, message, sizeof message) != sizeof message)
			leave(FAILS, "cannot write to the pseudo-terminal: %s", strerror(errno));
		await_completion(instrument, before);
		if (done % BETWEEN_NEWS == 0)
			progress(done, "writes of 80 bytes");
	}
}
