/* A logic circuit: its Verilog, whose module `top` simulates and prints a checksum for `+seed=`, and a reference function that computes the
 * checksum independently of the circuit. Both generate inputs by xorshift.
 */
#ifndef GRITSTONE_APP_LOGIC_H
#define GRITSTONE_APP_LOGIC_H

#include "simulations.h"

struct logic {
	const char *name;
	void (*write)(FILE *verilog);
	uint32_t (*checksum)(uint32_t seed);
};

/* Start of every module `top`: generator and checksum. */
#define TOP "module top;\n" \
	"reg [31:0] x, sum;\n" \
	"task draw;\nbegin\n  x = x ^ x << 13;\n  x = x ^ x >> 17;\n  x = x ^ x << 5;\nend\nendtask\n" \
	"task add;\ninput [31:0] value;\nsum = {sum[30:0], sum[31]} ^ value;\nendtask\n"
#define BEGIN "initial begin\n  if (!$value$plusargs(\"seed=%h\", x)) $finish;\n  sum = 0;\n"
#define END "  $display(\"checksum %h\", sum);\n  $finish(0);\nend\nendmodule\n"

static inline uint32_t xorshift(uint32_t *x)
{
	*x ^= *x << 13;
	*x ^= *x >> 17;
	return *x ^= *x << 5;
}

static inline void add_to_checksum(uint32_t *sum, uint32_t value)
{
	*sum = (*sum << 1 | *sum >> 31) ^ value;
}

#endif
