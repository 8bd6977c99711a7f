/* The random board and nets of app/router, and a reference search for the cheapest route: a plain breadth-first search by cells,
 * independent of the router's algorithm, in which a step of cost k is k unit steps through dummy states.
 */
#ifndef GRITSTONE_APP_BOARD_H
#define GRITSTONE_APP_BOARD_H

#include "program.h"

/* Costs of a step along the direction of a layer, across it, and to the other layer. Layer 0 is horizontal, layer 1 vertical. */
enum { ALONG = 1, ACROSS = 3, THROUGH = 5 };
enum { WIDTH = 704, HEIGHT = 704, LAYERS = 2, CELLS = LAYERS * WIDTH * HEIGHT, MAX_NETS = 100, UNREACHABLE = 0 };

struct place {
	unsigned x, y, layer;
};

struct net {
	struct place source, target;
	unsigned left, top, right, bottom; /* window, inclusive */
};

struct board {
	unsigned char blocked[LAYERS][HEIGHT][WIDTH];
	unsigned nets;
	struct net net[MAX_NETS];
};

static unsigned random_between(uint64_t *seed, unsigned low, unsigned high)
{
	return low + (unsigned)(draw(seed) >> 32) % (high - low + 1);
}

static void block_rectangle(struct board *b, unsigned layer, unsigned x, unsigned y, unsigned width, unsigned height)
{
	for (unsigned j = y; j < y + height && j < HEIGHT; j++)
		for (unsigned i = x; i < x + width && i < WIDTH; i++)
			b->blocked[layer][j][i] = 1;
}

/* Separate statements, since the order of evaluation within an expression is unspecified. */
static struct place random_place(uint64_t *seed, unsigned left, unsigned top, unsigned right, unsigned bottom)
{
	struct place p;
	p.x = random_between(seed, left, right);
	p.y = random_between(seed, top, bottom);
	p.layer = random_between(seed, 0, LAYERS - 1);
	return p;
}

static struct place free_place(const struct board *b, const struct net *n, uint64_t *seed)
{
	for (;;) {
		struct place p = random_place(seed, n->left, n->top, n->right, n->bottom);
		if (!b->blocked[p.layer][p.y][p.x])
			return p;
	}
}

/* Obstacles: wires on both layers, pins through both, and the edge. */
static void draw_board(struct board *b, unsigned nets, uint64_t seed)
{
	memset(b, 0, sizeof *b);
	for (unsigned i = 0; i < WIDTH * HEIGHT / 100; i++) {
		struct place p = random_place(&seed, 0, 0, WIDTH - 1, HEIGHT - 1);
		unsigned length = random_between(&seed, 8, 64);
		block_rectangle(b, p.layer, p.x, p.y, p.layer == 0 ? length : 1, p.layer == 0 ? 1 : length);
	}
	for (unsigned i = 0; i < WIDTH * HEIGHT / 400; i++) {
		struct place p = random_place(&seed, 0, 0, WIDTH - 1, HEIGHT - 1);
		for (unsigned layer = 0; layer < LAYERS; layer++)
			block_rectangle(b, layer, p.x, p.y, 2, 2);
	}
	for (unsigned layer = 0; layer < LAYERS; layer++) {
		block_rectangle(b, layer, 0, 0, WIDTH, 1);
		block_rectangle(b, layer, 0, HEIGHT - 1, WIDTH, 1);
		block_rectangle(b, layer, 0, 0, 1, HEIGHT);
		block_rectangle(b, layer, WIDTH - 1, 0, 1, HEIGHT);
	}
	for (b->nets = 0; b->nets < nets; b->nets++) {
		struct net *n = &b->net[b->nets];
		unsigned width = random_between(&seed, WIDTH / 2, WIDTH - 2);
		unsigned height = random_between(&seed, HEIGHT / 2, HEIGHT - 2);
		n->left = random_between(&seed, 1, WIDTH - 1 - width);
		n->top = random_between(&seed, 1, HEIGHT - 1 - height);
		n->right = n->left + width - 1;
		n->bottom = n->top + height - 1;
		n->source = free_place(b, n, &seed);
		n->target = free_place(b, n, &seed);
	}
}

/* Lines `r`: the cells of a row, four per hexadecimal digit with the leftmost as the lowest bit, layer by layer; lines `n`: window, source
 * and target of a net. */
static void write_board(struct context *c, struct text *t, const struct board *b)
{
	t->length = 0;
	for (unsigned row = 0; row < LAYERS * HEIGHT; row++) {
		char digits[WIDTH / 4 + 1];
		const unsigned char *cells = b->blocked[row / HEIGHT][row % HEIGHT];
		for (unsigned i = 0; i < WIDTH / 4; i++, cells += 4)
			digits[i] = "0123456789abcdef"[cells[0] | cells[1] << 1 | cells[2] << 2 | cells[3] << 3];
		digits[WIDTH / 4] = '\0';
		append_text(c, t, "r %s\n", digits);
	}
	for (unsigned i = 0; i < b->nets; i++) {
		const struct net *n = &b->net[i];
		append_text(c, t, "n %u %u %u %u %u %u %u %u %u %u\n", n->left, n->top, n->right, n->bottom, n->source.x, n->source.y,
		    n->source.layer, n->target.x, n->target.y, n->target.layer);
	}
}

static uint32_t cell_index(struct place p)
{
	return (p.layer * HEIGHT + p.y) * WIDTH + p.x;
}

/* Cost of the cheapest route, or UNREACHABLE. */
static unsigned reference_cost(const struct board *b, const struct net *n)
{
	static unsigned char visited[CELLS * THROUGH];
	static uint32_t queue[CELLS * THROUGH]; /* cell * THROUGH + remaining unit steps */
	size_t first = 0, last = 0;
	memset(visited, 0, sizeof visited);
	queue[last++] = cell_index(n->source) * THROUGH;
	for (unsigned cost = 0; first < last; cost++)
		for (size_t end = last; first < end; first++) {
			uint32_t state = queue[first], cell = state / THROUGH, next[5];
			unsigned count = 0;
			struct place p = {cell % WIDTH, cell / WIDTH % HEIGHT, cell / WIDTH / HEIGHT};
			if (state % THROUGH > 0) {
				next[count++] = state - 1;
			} else if (cell == cell_index(n->target)) {
				return cost;
			} else {
				unsigned in_row = p.layer == 0 ? ALONG : ACROSS, in_column = p.layer == 0 ? ACROSS : ALONG;
				const struct {
					int usable;
					struct place to;
					unsigned cost;
				} neighbor[5] = {
					{p.x > n->left, {p.x - 1, p.y, p.layer}, in_row},
					{p.x < n->right, {p.x + 1, p.y, p.layer}, in_row},
					{p.y > n->top, {p.x, p.y - 1, p.layer}, in_column},
					{p.y < n->bottom, {p.x, p.y + 1, p.layer}, in_column},
					{1, {p.x, p.y, 1 - p.layer}, THROUGH},
				};
				for (unsigned i = 0; i < 5; i++)
					if (neighbor[i].usable && !b->blocked[neighbor[i].to.layer][neighbor[i].to.y][neighbor[i].to.x])
						next[count++] = cell_index(neighbor[i].to) * THROUGH + neighbor[i].cost - 1;
			}
			for (unsigned i = 0; i < count; i++)
				if (!visited[next[i]]) {
					visited[next[i]] = 1;
					queue[last++] = next[i];
				}
		}
	return UNREACHABLE;
}

#endif
