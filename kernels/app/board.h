/* The board of app/router, drawn, and its nets; and what the cheapest way of a net costs, found by a search that has nothing in common with
 * the router's: cell by cell, first in, first out, where a step of cost k is k steps of which the first k - 1 lead nowhere.
 */
#ifndef GRITSTONE_APP_BOARD_H
#define GRITSTONE_APP_BOARD_H

#include "program.h"

/* Steps along the direction of a layer, across it, and to the other layer. Layer 0 has rows, layer 1 columns. */
enum { ALONG = 1, ACROSS = 3, THROUGH = 5 };
enum { WIDTH = 704, HEIGHT = 704, LAYERS = 2, CELLS = LAYERS * WIDTH * HEIGHT, MOST_NETS = 100, NO_WAY = 0 };

struct place {
	unsigned x, y, layer;
};

struct net {
	struct place source, target;
	unsigned left, top, right, bottom; /* of the window, all inside */
};

struct board {
	unsigned char taken[LAYERS][HEIGHT][WIDTH];
	unsigned nets;
	struct net net[MOST_NETS];
};

static unsigned between(uint64_t *seed, unsigned low, unsigned high)
{
	return low + (unsigned)(draw(seed) >> 32) % (high - low + 1);
}

static void fill(struct board *b, unsigned layer, unsigned x, unsigned y, unsigned width, unsigned height)
{
	for (unsigned j = y; j < y + height && j < HEIGHT; j++)
		for (unsigned i = x; i < x + width && i < WIDTH; i++)
			b->taken[layer][j][i] = 1;
}

/* Drawn one after the other: compilers may take the parts of an expression in any order. */
static struct place draw_place(uint64_t *seed, unsigned left, unsigned top, unsigned right, unsigned bottom)
{
	struct place p;
	p.x = between(seed, left, right);
	p.y = between(seed, top, bottom);
	p.layer = between(seed, 0, LAYERS - 1);
	return p;
}

static struct place free_place(const struct board *b, const struct net *n, uint64_t *seed)
{
	for (;;) {
		struct place p = draw_place(seed, n->left, n->top, n->right, n->bottom);
		if (!b->taken[p.layer][p.y][p.x])
			return p;
	}
}

/* Wires of both layers, pins through both, and an edge that nothing passes. */
static void draw_board(struct board *b, unsigned nets, uint64_t seed)
{
	memset(b, 0, sizeof *b);
	for (unsigned i = 0; i < WIDTH * HEIGHT / 100; i++) {
		struct place p = draw_place(&seed, 0, 0, WIDTH - 1, HEIGHT - 1);
		unsigned length = between(&seed, 8, 64);
		fill(b, p.layer, p.x, p.y, p.layer == 0 ? length : 1, p.layer == 0 ? 1 : length);
	}
	for (unsigned i = 0; i < WIDTH * HEIGHT / 400; i++) {
		struct place p = draw_place(&seed, 0, 0, WIDTH - 1, HEIGHT - 1);
		for (unsigned layer = 0; layer < LAYERS; layer++)
			fill(b, layer, p.x, p.y, 2, 2);
	}
	for (unsigned layer = 0; layer < LAYERS; layer++) {
		fill(b, layer, 0, 0, WIDTH, 1);
		fill(b, layer, 0, HEIGHT - 1, WIDTH, 1);
		fill(b, layer, 0, 0, 1, HEIGHT);
		fill(b, layer, WIDTH - 1, 0, 1, HEIGHT);
	}
	for (b->nets = 0; b->nets < nets; b->nets++) {
		struct net *n = &b->net[b->nets];
		unsigned width = between(&seed, WIDTH / 2, WIDTH - 2);
		unsigned height = between(&seed, HEIGHT / 2, HEIGHT - 2);
		n->left = between(&seed, 1, WIDTH - 1 - width);
		n->top = between(&seed, 1, HEIGHT - 1 - height);
		n->right = n->left + width - 1;
		n->bottom = n->top + height - 1;
		n->source = free_place(b, n, &seed);
		n->target = free_place(b, n, &seed);
	}
}

/* Lines `r` with the cells of a row, four in a hexadecimal digit with the leftmost as the lowest bit, layer by layer; lines `n` with the
 * window, the source and the target of a net. */
static void write_board(struct context *c, struct text *t, const struct board *b)
{
	t->length = 0;
	for (unsigned row = 0; row < LAYERS * HEIGHT; row++) {
		char digits[WIDTH / 4 + 1];
		const unsigned char *cells = b->taken[row / HEIGHT][row % HEIGHT];
		for (unsigned i = 0; i < WIDTH / 4; i++, cells += 4)
			digits[i] = "0123456789abcdef"[cells[0] | cells[1] << 1 | cells[2] << 2 | cells[3] << 3];
		digits[WIDTH / 4] = '\0';
		put(c, t, "r %s\n", digits);
	}
	for (unsigned i = 0; i < b->nets; i++) {
		const struct net *n = &b->net[i];
		put(c, t, "n %u %u %u %u %u %u %u %u %u %u\n", n->left, n->top, n->right, n->bottom, n->source.x, n->source.y,
		    n->source.layer, n->target.x, n->target.y, n->target.layer);
	}
}

static uint32_t cell_of(struct place p)
{
	return (p.layer * HEIGHT + p.y) * WIDTH + p.x;
}

/* What a net costs, or NO_WAY. */
static unsigned cost_of(const struct board *b, const struct net *n)
{
	static unsigned char seen[CELLS * THROUGH];
	static uint32_t queue[CELLS * THROUGH]; /* a cell times THROUGH, and the steps that are left to it */
	size_t first = 0, last = 0;
	memset(seen, 0, sizeof seen);
	queue[last++] = cell_of(n->source) * THROUGH;
	for (unsigned cost = 0; first < last; cost++)
		for (size_t end = last; first < end; first++) {
			uint32_t state = queue[first], cell = state / THROUGH, next[5];
			unsigned ways = 0;
			struct place p = {cell % WIDTH, cell / WIDTH % HEIGHT, cell / WIDTH / HEIGHT};
			if (state % THROUGH > 0) {
				next[ways++] = state - 1;
			} else if (cell == cell_of(n->target)) {
				return cost;
			} else {
				unsigned in_row = p.layer == 0 ? ALONG : ACROSS, in_column = p.layer == 0 ? ACROSS : ALONG;
				const struct {
					int usable;
					struct place to;
					unsigned cost;
				} way[5] = {
					{p.x > n->left, {p.x - 1, p.y, p.layer}, in_row},
					{p.x < n->right, {p.x + 1, p.y, p.layer}, in_row},
					{p.y > n->top, {p.x, p.y - 1, p.layer}, in_column},
					{p.y < n->bottom, {p.x, p.y + 1, p.layer}, in_column},
					{1, {p.x, p.y, 1 - p.layer}, THROUGH},
				};
				for (unsigned i = 0; i < 5; i++)
					if (way[i].usable && !b->taken[way[i].to.layer][way[i].to.y][way[i].to.x])
						next[ways++] = cell_of(way[i].to) * THROUGH + way[i].cost - 1;
			}
			for (unsigned i = 0; i < ways; i++)
				if (!seen[next[i]]) {
					seen[next[i]] = 1;
					queue[last++] = next[i];
				}
		}
	return NO_WAY;
}

#endif
