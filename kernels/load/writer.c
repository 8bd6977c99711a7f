/* A program that writes without pause to a device of infinite speed: what level 2 of the loads of hp-1987, section 5, adds.
 * There it was an instrument on HP-IB; here it is the device that takes everything at once, /dev/null, in messages of 80 bytes, the
 * larger of those of tests #10 to #13. */
#include "part.h"

#define BETWEEN_NEWS 20000

int main(void)
{
	static const char message[80];
	int device = open("/dev/null", O_WRONLY | O_CLOEXEC);
	if (device < 0)
		leave(CANNOT, "cannot open /dev/null: %s; mknod /dev/null c 1 3", strerror(errno));
	for (uint64_t done = 0;; done++) {
		if (write(device, message, sizeof message) != sizeof message)
			leave(FAILS, "cannot write to /dev/null: %s", strerror(errno));
		if (done % BETWEEN_NEWS == 0)
			progress(done, "writes of 80 bytes");
	}
}
