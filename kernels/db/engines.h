/* All engines. */
#ifndef GRITSTONE_DB_ENGINES_H
#define GRITSTONE_DB_ENGINES_H

#include "mariadb.h"
#include "postgresql.h"
#include "sqlite.h"

static const struct engine *const engines[] = {&sqlite, &postgresql, &mariadb};

static const struct engine *find_engine(struct context *c, const char *name)
{
	for (size_t i = 0; i < sizeof engines / sizeof *engines; i++)
		if (strcmp(engines[i]->name, name) == 0)
			return engines[i];
	wrong_arguments(c, "unknown engine=%s", name);
}

#endif
