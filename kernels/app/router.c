/* app/router: maze router on a board of two layers, thirty nets (hp-1987, section 2, table 2.2).
 *
 * One operation is one run of the program: read a board and its nets; for each net initialize the queue of costs, open a window in the
 * board, set source and target, flood until the target is reached, and clear the window; write the costs. Open cells are bitmaps of 64-bit
 * words. The queue has a bitmap for each possible next cost, with a list of its nonempty words, so that a flood advances by up to 64 cells
 * at once. A step costs 1 along the direction of its layer, 3 across it, and 5 to the other layer (board.h). The board is random: nets= and
 * seed=. The check value is the number of nets with the cost of the reference search.
 */
#include "board.h"

enum { WORDS = WIDTH / 64, LAYER = HEIGHT * WORDS, ALL_WORDS = LAYERS * LAYER, COSTS = 8, MAX_N = 4 };

/* Cells reached at one cost. */
struct bucket {
	unsigned count;
	uint16_t words[ALL_WORDS];
	uint64_t cells[ALL_WORDS];
};

static struct text text, results;
static struct board board;
static unsigned expected_costs[MAX_NETS], nets;
static uint64_t seed;

static uint64_t blocked[ALL_WORDS], open_cells[ALL_WORDS]; /* inside the window, not blocked, not reached */
static struct bucket buckets[COSTS];                     /* by cost modulo COSTS, which exceeds any step */
static struct net read_nets[MAX_NETS];
static unsigned read_count;

static unsigned digit_value(char c)
{
	return (unsigned)(c <= '9' ? c - '0' : c - 'a' + 10) & 15;
}

static unsigned next_number(struct text *t)
{
	const char *word;
	unsigned number = 0;
	for (size_t left = next_word(t, &word); left > 0; left--, word++)
		number = number * 10 + digit_value(*word);
	return number;
}

static int read_board(struct context *c, const char *file)
{
	unsigned row = 0;
	read_count = 0;
	if (!read_text(c, &text, file))
		return 0;
	do {
		const char *word;
		struct net *n = &read_nets[read_count];
		size_t length = next_word(&text, &word);
		if (length == 1 && *word == 'n' && read_count < MAX_NETS) {
			unsigned *const numbers[] = {&n->left, &n->top, &n->right, &n->bottom, &n->source.x, &n->source.y,
						     &n->source.layer, &n->target.x, &n->target.y, &n->target.layer};
			for (unsigned i = 0; i < sizeof numbers / sizeof *numbers; i++)
				*numbers[i] = next_number(&text);
			read_count++;
		} else if (length == 1 && *word == 'r' && row < LAYERS * HEIGHT && next_word(&text, &word) == WIDTH / 4) {
			uint64_t *words = &blocked[row++ * WORDS];
			memset(words, 0, WORDS * sizeof *words);
			for (unsigned i = 0; i < WIDTH / 4; i++)
				words[i / 16] |= (uint64_t)digit_value(word[i]) << (i % 16 * 4);
		} else {
			break;
		}
	} while (next_line(&text));
	if (row != LAYERS * HEIGHT || *text.cursor != '\0') {
		failed_because(c, "board", "%s cannot be read", file);
		return 0;
	}
	return 1;
}

static void reach(unsigned cost, unsigned word, uint64_t cells)
{
	struct bucket *b = &buckets[cost % COSTS];
	cells &= open_cells[word];
	if (cells == 0)
		return;
	if (b->cells[word] == 0)
		b->words[b->count++] = (uint16_t)word;
	b->cells[word] |= cells;
}

static void initialize_queue(void)
{
	for (unsigned i = 0; i < COSTS; i++) {
		for (unsigned j = 0; j < buckets[i].count; j++)
			buckets[i].cells[buckets[i].words[j]] = 0;
		buckets[i].count = 0;
	}
}

/* Mask of a word's cells from left to right, inclusive. */
static uint64_t part(unsigned word, unsigned left, unsigned right)
{
	uint64_t cells = ~(uint64_t)0;
	if (left / 64 > word || right / 64 < word)
		return 0;
	if (left / 64 == word)
		cells &= ~(uint64_t)0 << left % 64;
	if (right / 64 == word)
		cells &= ~(uint64_t)0 >> (63 - right % 64);
	return cells;
}

static void open_window(const struct net *n)
{
	for (unsigned layer = 0; layer < LAYERS; layer++)
		for (unsigned y = n->top; y <= n->bottom; y++)
			for (unsigned word = n->left / 64; word <= n->right / 64; word++) {
				unsigned index = layer * LAYER + y * WORDS + word;
				open_cells[index] = ~blocked[index] & part(word, n->left, n->right);
			}
}

static void clear_window(const struct net *n)
{
	for (unsigned layer = 0; layer < LAYERS; layer++)
		for (unsigned y = n->top; y <= n->bottom; y++)
			memset(&open_cells[layer * LAYER + y * WORDS], 0, WORDS * sizeof *open_cells);
}

static unsigned word_index(struct place p)
{
	return p.layer * LAYER + p.y * WORDS + p.x / 64;
}

/* Returns the cost of the target. The edge of the board is blocked, which makes bounds checks unnecessary. */
static unsigned flood(const struct net *n)
{
	unsigned target = word_index(n->target), empty = 0;
	uint64_t target_cell = (uint64_t)1 << n->target.x % 64;
	reach(0, word_index(n->source), (uint64_t)1 << n->source.x % 64);
	for (unsigned cost = 0; empty < COSTS; cost++) {
		struct bucket *b = &buckets[cost % COSTS];
		empty = b->count == 0 ? empty + 1 : 0;
		for (unsigned i = 0; i < b->count; i++) {
			unsigned index = b->words[i], layer = index / LAYER;
			unsigned in_row = layer == 0 ? ALONG : ACROSS, in_column = layer == 0 ? ACROSS : ALONG;
			uint64_t cells = b->cells[index] & open_cells[index];
			b->cells[index] = 0;
			if (cells == 0)
				continue;
			open_cells[index] &= ~cells;
			if (index == target && (cells & target_cell))
				return cost;
			reach(cost + in_row, index, cells << 1 | cells >> 1);
			reach(cost + in_row, index + 1, cells >> 63);
			reach(cost + in_row, index - 1, cells << 63);
			reach(cost + in_column, index - WORDS, cells);
			reach(cost + in_column, index + WORDS, cells);
			reach(cost + THROUGH, layer == 0 ? index + LAYER : index - LAYER, cells);
		}
		b->count = 0;
	}
	return UNREACHABLE;
}

static void setup(struct context *c)
{
	nets = (unsigned)parameter_u64(c, "nets", 30);
	seed = parameter_u64(c, "seed", 1987);
	if (nets < 1 || nets > MAX_NETS)
		wrong_arguments(c, "nets= is from 1 to %d", MAX_NETS);
}

static void prepare(struct context *c, uint64_t n)
{
	(void)n;
	results.length = 0;
	write_text(c, &results, "router.out", O_CREAT | O_TRUNC);
	if (board.nets > 0)
		return;
	draw_board(&board, nets, seed);
	write_board(c, &text, &board);
	write_text(c, &text, "board.txt", O_CREAT | O_TRUNC);
}

static void run(struct context *c, uint64_t n, uint64_t *check)
{
	(void)check;
	for (uint64_t i = 0; i < n; i++) {
		results.length = 0;
		if (!read_board(c, "board.txt"))
			return;
		for (unsigned j = 0; j < read_count; j++) {
			initialize_queue();
			open_window(&read_nets[j]);
			append_text(c, &results, "%u\n", flood(&read_nets[j]));
			clear_window(&read_nets[j]);
		}
		if (!write_text(c, &results, "router.out", O_APPEND))
			return;
	}
}

static void finish(struct context *c, uint64_t n, uint64_t *check)
{
	static int are_known;
	*check = 0;
	if (board.nets == 0)
		draw_board(&board, nets, seed);
	for (unsigned i = 0; i < nets && !are_known; i++)
		expected_costs[i] = reference_cost(&board, &board.net[i]);
	are_known = 1;
	if (!read_text(c, &results, "router.out"))
		return;
	for (uint64_t i = 0; i < n * nets; i++) {
		/* a missing line is wrong, even for an unreachable target */
		*check += *results.cursor != '\0' && next_number(&results) == expected_costs[i % nets];
		next_line(&results);
	}
}

static uint64_t expect(struct context *c, uint64_t n)
{
	(void)c;
	return n * nets;
}

const struct kernel kernel = {
	.name = "app/router",
	.setup = setup,
	.prepare = prepare,
	.run = run,
	.finish = finish,
	.expect = expect,
	.max_n = MAX_N,
	.files = 1,
};
