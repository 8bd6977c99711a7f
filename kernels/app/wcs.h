/* A writable control store with sequencer (conditional jumps, calls) and data path: a host alternately loads and executes microprograms for
 * division and multiplication, on random pairs. Reference: quotient, remainder and product.
 */
#ifndef GRITSTONE_APP_WCS_H
#define GRITSTONE_APP_WCS_H

#include "logic.h"

enum { WCS_PAIRS = 1400, WCS_WORDS = 11 };

/* Microinstruction: operation, condition, sequencing, address. */
#define WORD(op, condition, next, address) ((op) << 12 | (condition) << 9 | (next) << 6 | (address))
enum { NOP, CLEAR, COUNT16, SHIFT, SUBTRACT, COUNT, ADD, DOUBLE, HALVE };
enum { ALWAYS, SMALLER, COUNTED, EMPTY, EVEN };
enum { ON, JUMP, CALL, RETURN, HALT };

static const unsigned wcs_program[2][WCS_WORDS] = {
	{WORD(NOP, ALWAYS, CALL, 2), WORD(NOP, ALWAYS, HALT, 0), WORD(CLEAR, ALWAYS, ON, 0), WORD(COUNT16, ALWAYS, ON, 0), WORD(SHIFT, ALWAYS, ON, 0),
	 WORD(NOP, SMALLER, JUMP, 7), WORD(SUBTRACT, ALWAYS, ON, 0), WORD(COUNT, ALWAYS, ON, 0), WORD(NOP, COUNTED, JUMP, 10),
	 WORD(NOP, ALWAYS, JUMP, 4), WORD(NOP, ALWAYS, RETURN, 0)},
	{WORD(NOP, ALWAYS, CALL, 2), WORD(NOP, ALWAYS, HALT, 0), WORD(CLEAR, ALWAYS, ON, 0), WORD(NOP, EMPTY, JUMP, 9), WORD(NOP, EVEN, JUMP, 6),
	 WORD(ADD, ALWAYS, ON, 0), WORD(DOUBLE, ALWAYS, ON, 0), WORD(HALVE, ALWAYS, ON, 0), WORD(NOP, ALWAYS, JUMP, 3),
	 WORD(NOP, ALWAYS, RETURN, 0), WORD(NOP, ALWAYS, RETURN, 0)},
};

static inline void wcs_write(FILE *f)
{
	fputs("module wcs(input clock, input write, input [5:0] at, input [15:0] word, input go, input [15:0] left, input [15:0] right,\n"
	      "  output reg halted, output reg [31:0] a, output reg [31:0] r);\n"
	      "reg [15:0] store [0:63];\nreg [31:0] b;\nreg [4:0] n;\nreg [5:0] pc, back;\nreg [15:0] w;\nreg is;\n"
	      "initial halted = 1;\n"
	      "always @(posedge clock)\nif (write) store[at] <= word;\n"
	      "else if (go) begin\n  halted <= 0;\n  pc <= 0;\n  a <= {16'd0, left};\n  b <= {16'd0, right};\nend\n"
	      "else if (!halted) begin\n  w = store[pc];\n"
	      "  case (w[11:9])\n    0: is = 1;\n    1: is = r < b;\n    2: is = n == 0;\n    3: is = b == 0;\n    default: is = !b[0];\n  endcase\n"
	      "  case (w[15:12])\n    1: r <= 0;\n    2: n <= 16;\n    3: begin r <= {r[30:0], a[15]}; a <= {16'd0, a[14:0], 1'b0}; end\n"
	      "    4: begin r <= r - b; a <= a | 1; end\n    5: n <= n - 1;\n    6: r <= r + a;\n    7: a <= a << 1;\n    8: b <= b >> 1;\n"
	      "    default: ;\n  endcase\n"
	      "  case (w[8:6])\n    1: pc <= is ? w[5:0] : pc + 1;\n    2: begin back <= pc + 1; pc <= w[5:0]; end\n    3: pc <= back;\n"
	      "    4: halted <= 1;\n    default: pc <= pc + 1;\n  endcase\nend\nendmodule\n"
	      TOP "reg clock, write, go;\nreg [5:0] at;\nreg [15:0] word, left, right;\nwire halted;\nwire [31:0] a, r;\n"
	      "wcs machine(clock, write, at, word, go, left, right, halted, a, r);\nalways #5 clock = !clock;\n"
	      "task put;\ninput [5:0] where;\ninput [15:0] what;\nbegin\n  @(negedge clock);\n  write = 1;\n  at = where;\n  word = what;\nend\nendtask\n"
	      "task execute;\nbegin\n  @(negedge clock);\n  write = 0;\n  go = 1;\n  @(negedge clock);\n  go = 0;\n  wait (halted);\nend\nendtask\n", f);
	fprintf(f, "%s  clock = 0;\n  write = 0;\n  go = 0;\n  repeat (%d) begin\n", BEGIN, WCS_PAIRS);
	fputs("    draw;\n    left = x[15:0];\n    right = {8'd0, x[23:16]} | 1;\n", f);
	for (int p = 0; p < 2; p++) {
		for (int i = 0; i < WCS_WORDS; i++)
			fprintf(f, "    put(%d, %u);\n", i, wcs_program[p][i]);
		fprintf(f, "    execute;\n%s    add(r);\n", p == 0 ? "    add(a);\n" : "");
	}
	fputs("  end\n" END, f);
}

static inline uint32_t wcs_checksum(uint32_t x)
{
	uint32_t sum = 0;
	for (int i = 0; i < WCS_PAIRS; i++) {
		xorshift(&x);
		uint32_t left = x & 0xffff, right = (x >> 16 & 255) | 1;
		add_to_checksum(&sum, left / right);
		add_to_checksum(&sum, left % right);
		add_to_checksum(&sum, left * right);
	}
	return sum;
}

static const struct logic wcs = {"wcs", wcs_write, wcs_checksum};

#endif
