/* The loop of cpu/peak, included for each type and width: type `real`, vector bytes WIDTH, target attribute FOR, and NAME(x), the name of x
 * in this copy. */

typedef real NAME(vector) __attribute__((vector_size(WIDTH)));

FOR static uint64_t NAME(operation)(const real *factor_, const real *term_)
{
	const int lanes = (int)(WIDTH / sizeof(real));
	NAME(vector) factor, term, chain[CHAINS];
	for (int i = 0; i < lanes; i++) {
		factor[i] = *factor_;
		term[i] = *term_;
	}
	for (int i = 0; i < CHAINS; i++)
		chain[i] = 0 * term;
	for (int step = STEPS / lanes; step > 0; step--)
#pragma GCC unroll 16
		for (int i = 0; i < CHAINS; i++)
			chain[i] = chain[i] * factor + term;
	uint64_t sum = 0;
	for (int i = 0; i < CHAINS; i++)
		for (int lane = 0; lane < lanes; lane++)
			sum += (uint64_t)chain[i][lane];
	return sum;
}

#undef NAME
#undef real
