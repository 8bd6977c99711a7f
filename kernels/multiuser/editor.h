/* The editor of scripted users, by its path (the first available one of those in the catalog entry). */
#ifndef GRITSTONE_MULTIUSER_EDITOR_H
#define GRITSTONE_MULTIUSER_EDITOR_H

#include "scenario.h"

/* Command line to start it. */
static inline const char *editor_command(struct context *c)
{
	static char command[128];
	const char *path = parameter(c, "editor", "vi"), *name = strrchr(path, '/');
	snprintf(command, sizeof command, "%s%s", path, strcmp(name == NULL ? path : name + 1, "busybox") == 0 ? " vi" : "");
	note(c, "editor", "%s", command);
	return command;
}

#endif
