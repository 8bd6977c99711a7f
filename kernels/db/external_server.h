/* An external server (dsn=). A launch works in its own schema, and removes it; the next launch removes that of one that was killed.
 *
 * The launch holds a lock of the server by the number of its schema, which the server takes back when the connection is gone.
 */
#ifndef GRITSTONE_DB_EXTERNAL_SERVER_H
#define GRITSTONE_DB_EXTERNAL_SERVER_H

#include <sys/random.h>
#include <unistd.h>

#include "engine.h"

#define GUEST_NAME "gritstone_%08x"

static const char *guest_dsn; /* NULL: the server is ours */
static uint32_t guest_number;
static pid_t guest_process; /* which removes it; clients that are forked do not */
static char guest_schema[32];

/* Whether a server is named, for an engine whose settings are these: they are those of a server that we start. */
static int is_guest(struct context *c, const char *const *settings, int count)
{
	const char *dsn = parameter(c, "dsn", "none");
	if (strcmp(dsn, "none") == 0)
		return 0;
	for (int i = 0; i < count; i++)
		if (strcmp(parameter(c, settings[i], "default"), "default") != 0)
			wrong_arguments(c, "%s= is a setting of a server that Gritstone starts: that of dsn= has its own", settings[i]);
	if (getrandom(&guest_number, sizeof guest_number, 0) != sizeof guest_number)
		failed(c, "getrandom");
	guest_dsn = dsn;
	guest_process = getpid();
	snprintf(guest_schema, sizeof guest_schema, GUEST_NAME, guest_number);
	return 1;
}

#endif
