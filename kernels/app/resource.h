/* Gate-level round-robin arbiter with delays: 16 requesters for one resource; flip-flops of six gates each. Reference: the grant goes to
 * the first requester at or after the turn.
 */
#ifndef GRITSTONE_APP_RESOURCE_H
#define GRITSTONE_APP_RESOURCE_H

#include "logic.h"

enum { RESOURCE_ASKING = 16, RESOURCE_CYCLES = 6500 };

static inline void resource_write(FILE *f)
{
	fprintf(f, "`define N %d\n", RESOURCE_ASKING);
	fputs("module flip(output q, input d, input clock, input set, input clear);\nwire n1, n2, n3, n4, nq;\n"
	      "nand #1 (n1, set, n4, n2), (n2, n1, clear, clock), (n3, n2, clock, n4), (n4, n3, clear, d);\n"
	      "nand #1 (q, set, n2, nq), (nq, q, clear, n3);\nendmodule\n"
	      "module arbiter(output [`N-1:0] grant, input [`N-1:0] ask, input clock, input init);\n"
	      "wire [2*`N:0] pass;\nwire [2*`N-1:0] may, got;\nwire [`N-1:0] turn, next, quiet;\nwire any, none;\nsupply0 nothing;\nsupply1 one;\n"
	      "buf (pass[0], nothing);\nor #1 (any, grant[0], grant[1], grant[2], grant[3], grant[4], grant[5], grant[6], grant[7],\n"
	      "  grant[8], grant[9], grant[10], grant[11], grant[12], grant[13], grant[14], grant[15]);\nnot #1 (none, any);\n"
	      "genvar i;\ngenerate for (i = 0; i < 2 * `N; i = i + 1) begin : steps\n"
	      "  if (i < `N) or #1 (may[i], turn[i], pass[i]);\n  else buf (may[i], pass[i]);\n"
	      "  and #1 (got[i], may[i], ask[i % `N]);\n  and #1 (pass[i+1], may[i], quiet[i % `N]);\nend\n"
	      "for (i = 0; i < `N; i = i + 1) begin : turns\n  wire kept, moved;\n"
	      "  not #1 (quiet[i], ask[i]);\n  or #1 (grant[i], got[i], got[i+`N]);\n"
	      "  and #1 (kept, none, turn[i]);\n  and #1 (moved, any, grant[(i+`N-1) % `N]);\n  or #1 (next[i], kept, moved);\n"
	      "  if (i == 0) flip held(turn[i], next[i], clock, init, one);\n  else flip held(turn[i], next[i], clock, one, init);\nend\nendgenerate\n"
	      "endmodule\n"
	      TOP "reg [`N-1:0] ask, had;\nwire [`N-1:0] grant;\nreg clock, init;\narbiter a(grant, ask, clock, init);\n" BEGIN
	      "  ask = 0;\n  clock = 0;\n  init = 0;\n  #100 init = 1;\n", f);
	/* the granted requester withdraws, new ones request */
	fprintf(f, "  repeat (%d) begin\n", RESOURCE_CYCLES);
	fputs("    draw;\n    ask = ask | (x[`N-1:0] & x[`N+15:16]);\n    #100 had = grant;\n    add(had);\n"
	      "    clock = 1;\n    #20 ask = ask & ~had;\n    clock = 0;\n  end\n" END, f);
}

static inline uint32_t resource_checksum(uint32_t x)
{
	uint32_t sum = 0, ask = 0;
	int turn = 0;
	for (int cycle = 0; cycle < RESOURCE_CYCLES; cycle++) {
		int requester = turn, examined = 0;
		xorshift(&x);
		ask |= x & x >> 16 & 0xffff;
		for (; examined < RESOURCE_ASKING && !(ask >> requester & 1); examined++)
			requester = (requester + 1) % RESOURCE_ASKING;
		uint32_t granted = examined < RESOURCE_ASKING ? 1u << requester : 0;
		add_to_checksum(&sum, granted);
		ask &= ~granted;
		if (granted != 0)
			turn = (requester + 1) % RESOURCE_ASKING;
	}
	return sum;
}

static const struct logic resource = {"resource", resource_write, resource_checksum};

#endif
