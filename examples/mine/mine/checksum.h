/* The function as our archive has it: a Fletcher checksum of 32 bits over 16-bit words. */
#include <stddef.h>
#include <stdint.h>

static uint32_t checksum(const uint16_t *words, size_t count)
{
	uint32_t low = 0, high = 0;
	while (count > 0) {
		size_t part = count > 359 ? 359 : count; /* so many words before a sum can overflow */
		count -= part;
		for (; part > 0; part--) {
			low += *words++;
			high += low;
		}
		low = (low & 0xffff) + (low >> 16);
		high = (high & 0xffff) + (high >> 16);
	}
	return high % 0xffff << 16 | low % 0xffff;
}
