/* Failures, skips and notes. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime.h"

void failed_because(struct context *c, const char *call, const char *why, ...)
{
	if (c->failed_call != NULL)
		return;
	va_list arguments;
	va_start(arguments, why);
	vsnprintf(c->failed_why, sizeof c->failed_why, why, arguments);
	va_end(arguments);
	c->failed_call = call;
}

void failed(struct context *c, const char *call)
{
	if (c->failed_call != NULL)
		return;
	c->failed_errno = errno;
	failed_because(c, call, "%s", strerror(c->failed_errno));
}

void skip(struct context *c, const char *why, ...)
{
	if (c->failed_call != NULL)
		return;
	va_list arguments;
	va_start(arguments, why);
	vsnprintf(c->failed_why, sizeof c->failed_why, why, arguments);
	va_end(arguments);
	c->skipped = 1;
	c->failed_call = "skip";
}

void stop_if_failed(struct context *c)
{
	if (c->failed_call == NULL)
		return;
	if (once) {
		fprintf(stderr, "%s: %s: %s\n", kernel.name, c->failed_call, c->failed_why);
		_exit(1);
	}
	if (c->skipped)
		line("skip why=");
	else
		line("fail errno=%d call=%s why=", c->failed_errno, c->failed_call);
	line_text(c->failed_why);
	end_line();
	flush_lines();
	exit(c->skipped ? 0 : 1); /* runs atexit() handlers, which clean up on external servers */
}

void leave_out(struct context *c)
{
	c->left_out = 1;
}

_Noreturn void wrong_arguments(struct context *c, const char *why, ...)
{
	va_list arguments;
	if (c->failed_call == NULL) {
		va_start(arguments, why);
		vsnprintf(c->failed_why, sizeof c->failed_why, why, arguments);
		va_end(arguments);
		c->failed_call = "arguments";
	}
	stop_if_failed(c);
	abort();
}

void note(struct context *c, const char *key, const char *value, ...)
{
	char text[1024];
	va_list arguments;
	(void)c;
	if (once)
		return;
	va_start(arguments, value);
	vsnprintf(text, sizeof text, value, arguments);
	va_end(arguments);
	line("param key=%s value=", key);
	line_text(text);
	end_line();
}
