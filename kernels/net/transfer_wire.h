/* What goes over a connection of net/transfer, for both of its ends: the token, what is asked for, the data, and the answer. */
#ifndef GRITSTONE_NET_TRANSFER_WIRE_H
#define GRITSTONE_NET_TRANSFER_WIRE_H

#include <stdint.h>

enum { TOKEN_BYTES = 16, NAME_BYTES = 24, PIECE = 65536 };
enum asked_for { COPY = 1, LOOK, READY, KEY };

struct request {
	unsigned char token[TOKEN_BYTES];
	uint64_t what, size;
	uint64_t files, number; /* so many files to look at, and the number in the first word of a file */
	char name[NAME_BYTES];	/* to copy: digits */
};

/* Bytes written, or found right; CPU time since the last time, ns. */
struct answer {
	uint64_t bytes, cpu;
};

#endif
