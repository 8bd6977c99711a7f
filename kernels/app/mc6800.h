/* Behavioral model of a processor with instructions of the 6800, which computes the CRC (polynomial 0x1021) of 256 random bytes, several
 * times over. Reference: the CRC by its definition.
 */
#ifndef GRITSTONE_APP_MC6800_H
#define GRITSTONE_APP_MC6800_H

#include "logic.h"

enum { MC6800_DATA = 0x200, MC6800_BYTES = 256, MC6800_PASSES = 7 };

/* At 0x0100. The CRC is in accumulators A and B. */
static const unsigned char mc6800_program[] = {
	0x8e, 0x00, 0xff,             /* 100  lds #$00ff */
	0x86, MC6800_PASSES,          /* 103  ldaa #passes */
	0xb7, 0x00, 0x10,             /* 105  staa $0010 */
	0x4f,                         /* 108  clra */
	0x5f,                         /* 109  clrb */
	0xce, 0x02, 0x00,             /* 10a  pass: ldx #$0200 */
	0xa8, 0x00,                   /* 10d  byte: eora 0,x */
	0x36,                         /* 10f  psha */
	0x86, 0x08,                   /* 110  ldaa #8 */
	0xb7, 0x00, 0x11,             /* 112  staa $0011 */
	0x32,                         /* 115  pula */
	0x58,                         /* 116  bit: aslb */
	0x49,                         /* 117  rola */
	0x24, 0x04,                   /* 118  bcc next */
	0x88, 0x10,                   /* 11a  eora #$10 */
	0xc8, 0x21,                   /* 11c  eorb #$21 */
	0x7a, 0x00, 0x11,             /* 11e  next: dec $0011 */
	0x26, 0xf3,                   /* 121  bne bit */
	0x08,                         /* 123  inx */
	0x8c, 0x03, 0x00,             /* 124  cpx #$0300 */
	0x26, 0xe4,                   /* 127  bne byte */
	0x7a, 0x00, 0x10,             /* 129  dec $0010 */
	0x26, 0xdc,                   /* 12c  bne pass */
	0x3e,                         /* 12e  wai */
};

static inline void mc6800_write(FILE *f)
{
	fputs("module mc6800(input clock, input reset, output reg waiting);\n"
	      "reg [7:0] memory [0:1023];\nreg [7:0] a, b, op, low;\nreg [15:0] ix, sp, pc, ea;\nreg carry, zero;\n"
	      "task read;\ninput [15:0] at;\noutput [7:0] value;\nbegin\n  @(posedge clock);\n  value = memory[at[9:0]];\nend\nendtask\n"
	      "task write;\ninput [15:0] at;\ninput [7:0] value;\nbegin\n  @(posedge clock);\n  memory[at[9:0]] = value;\nend\nendtask\n"
	      "task fetch;\noutput [7:0] value;\nbegin\n  read(pc, value);\n  pc = pc + 1;\nend\nendtask\n"
	      "task extended;\nbegin\n  fetch(ea[15:8]);\n  fetch(ea[7:0]);\nend\nendtask\n"
	      "task branch;\ninput taken;\nbegin\n  fetch(low);\n  if (taken) pc = pc + {{8{low[7]}}, low};\nend\nendtask\n"
	      "task execute;\ncase (op)\n"
	      "  8'h08: begin ix = ix + 1; zero = ix == 0; end\n"
	      "  8'h24: branch(!carry);\n"
	      "  8'h26: branch(!zero);\n"
	      "  8'h32: begin sp = sp + 1; read(sp, a); end\n"
	      "  8'h36: begin write(sp, a); sp = sp - 1; end\n"
	      "  8'h3e: waiting = 1;\n"
	      "  8'h49: begin {carry, a} = {a, carry}; zero = a == 0; end\n"
	      "  8'h4f: begin a = 0; carry = 0; zero = 1; end\n"
	      "  8'h58: begin {carry, b} = {b, 1'b0}; zero = b == 0; end\n"
	      "  8'h5f: begin b = 0; carry = 0; zero = 1; end\n"
	      "  8'h7a: begin extended; read(ea, low); low = low - 1; write(ea, low); zero = low == 0; end\n"
	      "  8'h86: begin fetch(a); zero = a == 0; end\n"
	      "  8'h88: begin fetch(low); a = a ^ low; zero = a == 0; end\n"
	      "  8'h8c: begin extended; zero = ix == ea; end\n"
	      "  8'h8e: begin extended; sp = ea; end\n"
	      "  8'ha8: begin fetch(low); read(ix + low, low); a = a ^ low; zero = a == 0; end\n"
	      "  8'hb7: begin extended; write(ea, a); zero = a == 0; end\n"
	      "  8'hc8: begin fetch(low); b = b ^ low; zero = b == 0; end\n"
	      "  8'hce: begin extended; ix = ea; zero = ix == 0; end\n"
	      "  default: waiting = 1;\nendcase\nendtask\n"
	      "initial begin\n  waiting = 0;\n  @(negedge reset);\n  pc = 16'h0100;\n  while (!waiting) begin\n    fetch(op);\n    execute;\n  end\nend\n"
	      "endmodule\n"
	      TOP "reg clock, reset;\nwire waiting;\nmc6800 cpu(clock, reset, waiting);\ninteger i;\nalways #5 clock = !clock;\n" BEGIN
	      "  clock = 0;\n  reset = 1;\n", f);
	for (unsigned i = 0; i < sizeof mc6800_program; i++)
		fprintf(f, "  cpu.memory[%u] = %u;\n", 0x100 + i, mc6800_program[i]);
	fprintf(f, "  for (i = 0; i < %d; i = i + 1) begin\n    draw;\n    cpu.memory[%d + i] = x[7:0];\n  end\n", MC6800_BYTES, MC6800_DATA);
	fputs("  #20 reset = 0;\n  wait (waiting);\n  add({16'd0, cpu.a, cpu.b});\n" END, f);
}

static inline uint32_t mc6800_checksum(uint32_t x)
{
	uint32_t crc = 0;
	unsigned char data[MC6800_BYTES];
	for (int i = 0; i < MC6800_BYTES; i++)
		data[i] = xorshift(&x) & 255;
	for (int i = 0; i < MC6800_PASSES * MC6800_BYTES; i++) {
		crc ^= (uint32_t)data[i % MC6800_BYTES] << 8;
		for (int bit = 0; bit < 8; bit++)
			crc = crc & 0x8000 ? (crc << 1 ^ 0x1021) & 0xffff : crc << 1;
	}
	return crc;
}

static const struct logic mc6800 = {"mc6800", mc6800_write, mc6800_checksum};

#endif
