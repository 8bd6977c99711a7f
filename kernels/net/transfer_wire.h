/* Wire format of net/transfer: token and request, data, reply. */
#ifndef GRITSTONE_NET_TRANSFER_WIRE_H
#define GRITSTONE_NET_TRANSFER_WIRE_H

#include <stdint.h>

enum { TOKEN_BYTES = 16, NAME_BYTES = 24, PIECE = 65536 };
enum request_type { COPY = 1, CHECK_FILES, PREPARE_FILE, SET_KEY };

struct request {
	unsigned char token[TOKEN_BYTES];
	uint64_t what, size;
	uint64_t files, number; /* CHECK_FILES: files to check; number in the first word of a file */
	char name[NAME_BYTES];	/* COPY: digits */
};

/* Bytes written or found correct; CPU time since the previous reply, ns. */
struct reply {
	uint64_t bytes, cpu;
};

#endif
