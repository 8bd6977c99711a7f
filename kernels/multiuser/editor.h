/* The editor of scripted users: the first there is of those that the entry names, by its path. */
#ifndef GRITSTONE_MULTIUSER_EDITOR_H
#define GRITSTONE_MULTIUSER_EDITOR_H

#include "scenario.h"

/* What is typed to start it. */
static inline const char *editor_command(struct context *c)
{
	static char command[128];
	const char *path = parameter(c, "editor", "vi"), *name = strrchr(path, '/');
	snprintf(command, sizeof command, "%s%s", path, strcmp(name == NULL ? path : name + 1, "busybox") == 0 ? " vi" : "");
	note(c, "editor", "%s", command);
	return command;
}

#endif
