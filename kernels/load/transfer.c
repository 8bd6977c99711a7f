/* Files that go from one host to another without pause: what level 4 of the loads of hp-1987, section 5, adds (transfer.h). Where two hosts may
 * not be made, the file goes over the loopback interface of this one, and `stand_in` says so and why. */
#define _GNU_SOURCE
#include "transfer.h"

int main(void)
{
	in_port_t port;
	count_together();
	have_no_hosts((struct traffic){.in = 1});
	int note = open("stand_in", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	int told = dprintf(note, "The files of load level 4 went over the loopback interface and not between two hosts: two network "
		      "namespaces joined by veth could not be made, which takes root or user namespaces, and ip(8) (apt-get install iproute2).\n");
	if (note < 0 || told < 0)
		exit_with(FAILED, "cannot write to stand_in: %s", strerror(errno));
	int s = listens("127.0.0.1", &port);
	if (fork_tied() == 0)
		serve(s, "");
	send_files("127.0.0.1", port, "", 1);
}
