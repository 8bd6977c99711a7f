/* Load that transfers files between hosts continuously: level 4 of the loads of hp-1987, section 5 (transfer.h). If two hosts cannot be
 * created, the transfer uses the loopback interface, and the file `stand_in` explains that. */
#define _GNU_SOURCE
#include "transfer.h"

int main(void)
{
	in_port_t port;
	share_counter();
	run_two_hosts((struct traffic){.in = 1});
	int note = open("stand_in", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	int written = dprintf(note, "The files of load level 4 went over the loopback interface and not between two hosts: two network "
		      "namespaces joined by veth could not be created, which takes root or user namespaces, and ip(8) (apt-get install iproute2).\n");
	if (note < 0 || written < 0)
		exit_with(FAILED, "cannot write to stand_in: %s", strerror(errno));
	int s = open_listener("127.0.0.1", &port);
	if (fork_tied() == 0)
		serve(s, "");
	send_files("127.0.0.1", port, "", 1);
}
