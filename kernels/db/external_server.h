/* An external server (dsn=). A launch creates its own schema, and drops it at the end; the next launch drops those of killed launches.
 *
 * The launch holds a server-side lock by the number of its schema, which the server releases when the connection closes.
 */
#ifndef GRITSTONE_DB_EXTERNAL_SERVER_H
#define GRITSTONE_DB_EXTERNAL_SERVER_H

#include <sys/random.h>
#include <unistd.h>

#include "engine.h"

#define SCHEMA_FORMAT "gritstone_%08x"

static const char *external_dsn; /* NULL: the launch starts the server */
static uint32_t schema_number;
static pid_t schema_owner; /* the process that drops the schema; forked clients do not */
static char schema_name[32];

/* Whether dsn= is given. Then the engine's settings cannot be: they are for a server that the launch starts. */
static int use_external_server(struct context *c, const char *const *settings, int count)
{
	const char *dsn = parameter(c, "dsn", "none");
	if (strcmp(dsn, "none") == 0)
		return 0;
	for (int i = 0; i < count; i++)
		if (strcmp(parameter(c, settings[i], "default"), "default") != 0)
			wrong_arguments(c, "%s= applies to a server that Gritstone starts, not to the one of dsn=", settings[i]);
	if (getrandom(&schema_number, sizeof schema_number, 0) != sizeof schema_number)
		failed(c, "getrandom");
	external_dsn = dsn;
	schema_owner = getpid();
	snprintf(schema_name, sizeof schema_name, SCHEMA_FORMAT, schema_number);
	return 1;
}

#endif
