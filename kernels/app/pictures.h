/* Generators of an image, a video, and PDF pages. */
#ifndef APP_PICTURES_H
#define APP_PICTURES_H

#include "input.h"

/* Triangle wave from 0 to 255. */
static int wave(uint64_t x, unsigned period)
{
	unsigned phase = (unsigned)(x % period) * 510 / period;
	return (int)(phase > 255 ? 510 - phase : phase);
}

static int clamp(int x)
{
	return x < 0 ? 0 : x > 255 ? 255 : x;
}

/* Waves, shifted by the salt, with noise from the seed; the expected output is the image at a quarter of width and height, each pixel the
 * mean of 16. SIZE is the width; the height is two thirds of it. */
static void make_image(uint64_t size, uint64_t seed, const char *path)
{
	unsigned width = (unsigned)size / 12 * 12, height = width / 3 * 2;
	struct random r = {seed};
	struct text t = {0}, noise = {0}, small = {0};
	unsigned *means = calloc((size_t)width * 3, sizeof *means), shift = (unsigned)(salt % 4096);
	if (means == NULL)
		die("no memory");
	appendf(&t, "P6\n%u %u\n255\n", width, height);
	appendf(&small, "P6\n%u %u\n255\n", width / 4, height / 4);
	for (unsigned y = 0; y < height; y++) {
		for (unsigned x = 0; x < width; x++) {
			uint64_t bits = draw(&r);
			int red = wave(x + shift, 1200), green = wave(y + shift, 800), blue = wave(x + y + 2 * shift, 500);
			int color[3] = {red + (int)(bits & 15) - 8, green + (int)(bits >> 8 & 15) - 8, blue + (int)(bits >> 16 & 15) - 8};
			char *pixel = reserve(&t, 3);
			for (int i = 0; i < 3; i++) {
				pixel[i] = (char)clamp(color[i]);
				means[x / 4 * 3 + (unsigned)i] += (unsigned)clamp(color[i]);
			}
			t.length += 3;
			append(&noise, (const char *)&(char){(char)bits}, 1);
		}
		for (unsigned i = 0; y % 4 == 3 && i < width / 4 * 3; i++) {
			append(&small, &(char){(char)(means[i] / 16)}, 1);
			means[i] = 0;
		}
	}
	add_to_hash(&noise);
	write_file(path, &t);
	write_file("answer-small", &small);
}

enum { WIDTH = 640, HEIGHT = 360 };

/* SIZE frames of 640 x 360 at 4:2:0: moving waves and a moving square, shifted by the salt. The expected output is the raw frames. */
static void make_video(uint64_t size, uint64_t seed, const char *path)
{
	struct random r = {seed};
	struct text t = {0}, noise = {0}, frames = {0};
	unsigned shift = (unsigned)(salt % 4096);
	for (unsigned i = 0; i < WIDTH * 4; i++)
		append(&noise, &(char){(char)(draw(&r) & 7)}, 1);
	add_to_hash(&noise);
	appendf(&t, "YUV4MPEG2 W%d H%d F25:1 Ip A1:1 C420jpeg\n", WIDTH, HEIGHT);
	for (unsigned f = 0; f < size; f++) {
		appendf(&t, "FRAME\n");
		size_t begin = t.length;
		unsigned left = (shift + f * 7) % (WIDTH - 80), top = (shift / 3 + f * 3) % (HEIGHT - 80);
		for (unsigned y = 0; y < HEIGHT; y++)
			for (unsigned x = 0; x < WIDTH; x++) {
				int square = x >= left && x < left + 80 && y >= top && y < top + 80;
				int luma = (wave(x + 3 * f + shift, 300) + wave(y + 2 * f, 170)) / 3 + 40 + (square ? 60 : 0);
				int grain = noise.data[(x * 7 + y * 13 + f * 31) % (WIDTH * 4)];
				*reserve(&t, 1) = (char)clamp(luma + grain - 4);
				t.length++;
			}
		for (unsigned plane = 0; plane < 2; plane++)
			for (unsigned y = 0; y < HEIGHT / 2; y++)
				for (unsigned x = 0; x < WIDTH / 2; x++) {
					*reserve(&t, 1) = (char)(64 + wave(x + y + f + 200 * plane + shift, 400) / 2);
					t.length++;
				}
		append(&frames, t.data + begin, t.length - begin);
	}
	write_file(path, &t);
	write_file("answer-frames", &frames);
}

enum { CELLS = 32, PAGE_WIDTH = 595, PAGE_HEIGHT = 842, BAND = 40, SHAPES = 2500 };

/* Color of a cell of the band at the top of a page, from the salt. */
static int is_black(uint64_t page, unsigned cell)
{
	struct random r = {salt + page};
	return (int)(draw(&r) >> cell & 1);
}

/* SIZE pages of PDF: filled and stroked curves, below a band of black and white cells from the salt. The expected output is the cells. */
static void make_pages(uint64_t size, uint64_t seed, const char *path)
{
	struct random r = {seed};
	struct text t = {0}, cells = {0};
	size_t *offset = calloc(3 + 2 * size, sizeof *offset);
	unsigned objects = 1;
	if (offset == NULL)
		die("no memory");
	appendf(&t, "%%PDF-1.4\n");
	for (uint64_t page = 0; page < size; page++) {
		struct text drawn = {0};
		for (unsigned i = 0; i < SHAPES; i++) {
			unsigned x = random_below(&r, PAGE_WIDTH), y = random_below(&r, PAGE_HEIGHT - BAND), filled = i % 3 == 0;
			for (int c = 0; c < 3; c++)
				appendf(&drawn, "0.%u ", random_below(&r, 10));
			appendf(&drawn, "%s\n%u %u m\n", filled ? "rg" : "RG", x, y);
			for (int c = 0; c < 9; c++) {
				unsigned right = random_below(&r, 60), up = random_below(&r, 30);
				appendf(&drawn, "%u %u%s", x + right, y + up, c % 3 == 2 ? " c\n" : " ");
			}
			appendf(&drawn, "%s\n", filled ? "f" : "S");
		}
		add_to_hash(&drawn);
		appendf(&drawn, "1 g 0 %d %d %d re f 0 g\n", PAGE_HEIGHT - BAND, PAGE_WIDTH, BAND);
		for (unsigned cell = 0; cell < CELLS; cell++) {
			appendf(&cells, "%d", is_black(page, cell));
			if (is_black(page, cell))
				appendf(&drawn, "%u %d 16 %d re f\n", 40 + cell * 16, PAGE_HEIGHT - BAND, BAND);
		}
		appendf(&cells, "\n");
		offset[objects] = t.length;
		appendf(&t, "%u 0 obj\n<< /Length %zu >>\nstream\n", objects++, drawn.length);
		append(&t, drawn.data, drawn.length);
		appendf(&t, "endstream\nendobj\n");
		free(drawn.data);
		offset[objects] = t.length;
		appendf(&t, "%u 0 obj\n<< /Type /Page /Parent %u 0 R /MediaBox [0 0 %d %d] /Resources << >> /Contents %u 0 R >>\nendobj\n", objects,
		     (unsigned)(2 * size + 1), PAGE_WIDTH, PAGE_HEIGHT, objects - 1);
		objects++;
	}
	offset[objects] = t.length;
	appendf(&t, "%u 0 obj\n<< /Type /Pages /Count %u /Kids [", objects++, (unsigned)size);
	for (unsigned page = 0; page < size; page++)
		appendf(&t, " %u 0 R", 2 * page + 2);
	appendf(&t, " ] >>\nendobj\n");
	offset[objects] = t.length;
	appendf(&t, "%u 0 obj\n<< /Type /Catalog /Pages %u 0 R >>\nendobj\n", objects, objects - 1);
	size_t table = t.length;
	appendf(&t, "xref\n0 %u\n0000000000 65535 f \n", objects + 1);
	for (unsigned i = 1; i <= objects; i++)
		appendf(&t, "%010zu 00000 n \n", offset[i]);
	appendf(&t, "trailer\n<< /Size %u /Root %u 0 R >>\nstartxref\n%zu\n%%%%EOF\n", objects + 1, objects, table);
	write_file(path, &t);
	write_file("answer-cells", &cells);
}

#endif
