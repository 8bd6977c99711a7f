/* Gate-level sorting network: Batcher's odd-even merge sort of 16 bytes, 63 cells of 89 gates, on random vectors. Reference: a counting sort. */
#ifndef GRITSTONE_APP_ISOR_H
#define GRITSTONE_APP_ISOR_H

#include "logic.h"

enum { ISOR_INPUTS = 16, ISOR_VECTORS = 16 };

/* The compare-exchange cell of two lines; stage[] numbers the wires of each line. */
static inline void isor_cell(FILE *f, int *stage, int low, int high)
{
	fprintf(f, "wire [7:0] w%d_%d, w%d_%d;\norder c%d_%d_%d(w%d_%d, w%d_%d, w%d_%d, w%d_%d);\n", low, stage[low] + 1, high, stage[high] + 1, low, high,
		stage[low], low, stage[low], high, stage[high], low, stage[low] + 1, high, stage[high] + 1);
	stage[low]++;
	stage[high]++;
}

static inline void isor_write(FILE *f)
{
	int stage[ISOR_INPUTS] = {0};
	fputs("module order(input [7:0] a, input [7:0] b, output [7:0] low, output [7:0] high);\n"
	      "wire [8:0] more;\nwire less;\nsupply0 nothing;\nbuf (more[0], nothing);\nnot (less, more[8]);\n"
	      "genvar i;\ngenerate for (i = 0; i < 8; i = i + 1) begin : bits\n"
	      "  wire nb, p, q, r, la, lb, ha, hb;\n"
	      "  not (nb, b[i]);\n  and (p, a[i], nb);\n  xnor (q, a[i], b[i]);\n  and (r, q, more[i]);\n  or (more[i+1], p, r);\n"
	      "  and (la, a[i], less);\n  and (lb, b[i], more[8]);\n  or (low[i], la, lb);\n"
	      "  and (ha, a[i], more[8]);\n  and (hb, b[i], less);\n  or (high[i], ha, hb);\nend\nendgenerate\nendmodule\n" TOP, f);
	for (int i = 0; i < ISOR_INPUTS; i++)
		fprintf(f, "reg [7:0] w%d_0;\n", i);
	for (int p = 1; p < ISOR_INPUTS; p *= 2)
		for (int k = p; k >= 1; k /= 2)
			for (int j = k % p; j + k < ISOR_INPUTS; j += 2 * k)
				for (int i = 0; i < k && i + j + k < ISOR_INPUTS; i++)
					if ((i + j) / (2 * p) == (i + j + k) / (2 * p))
						isor_cell(f, stage, i + j, i + j + k);
	fprintf(f, "%s  repeat (%d) begin\n", BEGIN, ISOR_VECTORS);
	for (int i = 0; i < ISOR_INPUTS; i++)
		fprintf(f, "    draw; w%d_0 = x[7:0];\n", i);
	fputs("    #10;\n", f);
	for (int i = 0; i < ISOR_INPUTS; i++)
		fprintf(f, "    add(w%d_%d);\n", i, stage[i]);
	fputs("  end\n" END, f);
}

static inline uint32_t isor_checksum(uint32_t x)
{
	uint32_t sum = 0;
	for (int v = 0; v < ISOR_VECTORS; v++) {
		int count[256] = {0};
		for (int i = 0; i < ISOR_INPUTS; i++)
			count[xorshift(&x) & 255]++;
		for (unsigned byte = 0; byte < 256; byte++)
			for (; count[byte] > 0; count[byte]--)
				add_to_checksum(&sum, byte);
	}
	return sum;
}

static const struct logic isor = {"isor", isor_write, isor_checksum};

#endif
