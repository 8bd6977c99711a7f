/* Arguments (`key=value` ..., then `--` and a command), placement on CPUs, and the second process. */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "cpus.h"
#include "runtime.h"

static void parse_cpus(struct context *c, const char *text)
{
	while (*text != '\0') {
		char *end;
		long cpu = strtol(text, &end, 10);
		if (end == text || cpu < 0 || cpu >= NR_CPUS || c->cpus == MAX_CPUS || (*end != '\0' && *end != ',')) {
			failed_because(c, "arguments", "cpus=%s is not one or two CPU numbers below %d", text, NR_CPUS);
			return;
		}
		c->cpu[c->cpus++] = (int)cpu;
		text = *end == ',' ? end + 1 : end;
	}
}

void parse_arguments(struct context *c, int argc, char **argv)
{
	static char *nothing[] = {NULL};
	c->command = nothing;
	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--") == 0) {
			c->command = argv + i + 1;
			break;
		}
		char *equals = strchr(argv[i], '=');
		if (equals == NULL || c->parameters == MAX_PARAMETERS) {
			failed_because(c, "arguments", "'%s' is not key=value, or exceeds the limit of parameters", argv[i]);
			return;
		}
		*equals = '\0';
		c->key[c->parameters] = argv[i];
		c->value[c->parameters++] = equals + 1;
	}
	parse_cpus(c, parameter(c, "cpus", ""));
}

const char *parameter(const struct context *c, const char *key, const char *otherwise)
{
	for (int i = 0; i < c->parameters; i++)
		if (strcmp(c->key[i], key) == 0)
			return c->value[i];
	return otherwise;
}

uint64_t parameter_u64(struct context *c, const char *key, uint64_t otherwise)
{
	const char *text = parameter(c, key, NULL);
	if (text == NULL)
		return otherwise;
	char *end;
	errno = 0;
	uint64_t value = strtoull(text, &end, 10);
	if (errno != 0 || end == text || *end != '\0' || *text == '-')
		wrong_arguments(c, "%s=%s is not a whole number", key, text);
	return value;
}

char **command_line(const struct context *c)
{
	return c->command;
}

/* Pins the calling process to the which-th CPU of cpus=, or to the last one. */
void place(struct context *c, int which)
{
	if (c->cpus == 0)
		return;
	int cpu = c->cpu[which < c->cpus ? which : c->cpus - 1];
	if (pin_to_cpu(cpu) != 0)
		failed_because(c, "sched_setaffinity", "cannot run on CPU %d: %s", cpu, strerror(errno));
}

pid_t fork_peer(struct context *c)
{
	pid_t parent = getpid();
	pid_t pid = fork();
	if (pid != 0)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(126); /* the parent died before PR_SET_PDEATHSIG took effect */
	if (c->has_protocol)
		close(3);
	if (c->cpus > 1) /* with one CPU, or none given, the mask is inherited */
		place(c, 1);
	if (c->failed_call != NULL)
		_exit(125);
	return 0;
}
