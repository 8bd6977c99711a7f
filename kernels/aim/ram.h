/* The loops of ram.c for one type T, with sums in U and function names formed by NAME(); included once per type.
 *
 * NEXT() needs the local `all`.
 *
 * Every access is volatile and of the width of T.
 */

/* Four accumulators, so that loads do not wait for additions. */
static uint64_t NAME(read)(uint64_t n)
{
	U a = 0, b = 0, c = 0, d = 0;
	uint64_t index = next_block, all = blocks;
	for (; n > 0; n--, index = NEXT(index)) {
		const volatile T *p = (const volatile T *)(from + index * BLOCK);
		for (const volatile T *end = p + BLOCK / sizeof(T); p != end; p += 16) {
			a += (U)p[0], b += (U)p[1], c += (U)p[2], d += (U)p[3];
			a += (U)p[4], b += (U)p[5], c += (U)p[6], d += (U)p[7];
			a += (U)p[8], b += (U)p[9], c += (U)p[10], d += (U)p[11];
			a += (U)p[12], b += (U)p[13], c += (U)p[14], d += (U)p[15];
		}
	}
	next_block = index;
	return (U)(a + b + c + d);
}

/* Fills each block with the running number of the write, truncated to T. */
static uint64_t NAME(write)(uint64_t n)
{
	uint64_t index = next_block, all = blocks;
	for (; n > 0; n--, index = NEXT(index)) {
		T v = (T)number++;
		volatile T *q = (volatile T *)(to + index * BLOCK);
		for (volatile T *end = q + BLOCK / sizeof(T); q != end; q += 16) {
			q[0] = v, q[1] = v, q[2] = v, q[3] = v;
			q[4] = v, q[5] = v, q[6] = v, q[7] = v;
			q[8] = v, q[9] = v, q[10] = v, q[11] = v;
			q[12] = v, q[13] = v, q[14] = v, q[15] = v;
		}
	}
	next_block = index;
	return 0;
}

static uint64_t NAME(copy)(uint64_t n)
{
	uint64_t index = next_block, all = blocks;
	for (; n > 0; n--, index = NEXT(index)) {
		const volatile T *p = (const volatile T *)(from + index * BLOCK);
		volatile T *q = (volatile T *)(to + index * BLOCK);
		for (const volatile T *end = p + BLOCK / sizeof(T); p != end; p += 16, q += 16) {
			q[0] = p[0], q[1] = p[1], q[2] = p[2], q[3] = p[3];
			q[4] = p[4], q[5] = p[5], q[6] = p[6], q[7] = p[7];
			q[8] = p[8], q[9] = p[9], q[10] = p[10], q[11] = p[11];
			q[12] = p[12], q[13] = p[13], q[14] = p[14], q[15] = p[15];
		}
	}
	next_block = index;
	return 0;
}

/* Fills a source block with 1, 3, 5, ..., truncated to the type. */
static void NAME(fill)(void *block)
{
	for (size_t k = 0; k < BLOCK / sizeof(T); k++)
		((T *)block)[k] = (T)(2 * k + 1);
}

static int NAME(is_filled_with)(const void *block, uint64_t value)
{
	size_t k = 0;
	while (k < BLOCK / sizeof(T) && ((const T *)block)[k] == (T)value)
		k++;
	return k == BLOCK / sizeof(T);
}

/* Sum over n filled blocks. */
static uint64_t NAME(sum)(uint64_t n)
{
	U sum = 0;
	for (size_t k = 0; k < BLOCK / sizeof(T); k++)
		sum += (U)(T)(2 * k + 1);
	return (U)(sum * n);
}

#undef T
#undef U
#undef NAME
