/* iocall, iocall@hp: system calls on a file in the buffer cache (iocall-1985; hp-1987, I/O call benchmark).
 *
 * form=ncr: a file is created, closed, opened and unlinked; one operation is then a write of 500 bytes, a seek back to the start and four
 * reads of 100. The reference workload is 1,001 operations: the listing counts from 0 to 1,000. form=hp: one operation recreates the file:
 * create, close, open, seek, write of 500 bytes, seek, three reads of 100, close. The reference workload is 1,000 operations. The file is
 * unlinked after the last, untimed.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "../runtime/kernel.h"

#define NAME "testfile"

static char buffer[512];
static int form_hp;

static void setup(struct context *c)
{
	const char *form = parameter(c, "form", "");
	form_hp = strcmp(form, "hp") == 0;
	if (!form_hp && strcmp(form, "ncr") != 0)
		wrong_arguments(c, "form=%s is neither ncr nor hp", form);
}

/* Creates, closes and opens the file. */
static int create_file(struct context *c)
{
	int file = creat(NAME, 0600);
	if (file < 0) {
		failed(c, "creat");
		return -1;
	}
	if (close(file) != 0)
		failed(c, "close");
	file = open(NAME, O_RDWR);
	if (file < 0)
		failed(c, "open");
	return file;
}

/* One write of 500 bytes and `reads` reads of 100 from the start. Returns the number of bytes, 0 on failure. */
static uint64_t transfer(struct context *c, int file, int reads)
{
	uint64_t bytes = 0;
	ssize_t count = write(file, buffer, 500);
	if (count != 500) {
		failed(c, "write");
		return 0;
	}
	bytes += (uint64_t)count;
	if (lseek(file, 0, SEEK_SET) != 0) {
		failed(c, "lseek");
		return 0;
	}
	for (int j = 0; j < reads; j++) {
		count = read(file, buffer, 100);
		if (count != 100) {
			failed(c, "read");
			return 0;
		}
		bytes += (uint64_t)count;
	}
	return bytes;
}

static uint64_t run_ncr(struct context *c, uint64_t n)
{
	uint64_t bytes = 0, moved;
	int file = create_file(c);
	if (file < 0)
		return 0;
	if (unlink(NAME) != 0)
		failed(c, "unlink");
	for (uint64_t i = 0; i < n; i++) {
		moved = transfer(c, file, 4);
		if (moved == 0)
			break;
		bytes += moved;
	}
	close(file);
	return bytes;
}

static uint64_t run_hp(struct context *c, uint64_t n)
{
	uint64_t bytes = 0, moved = 1;
	for (uint64_t i = 0; i < n && moved != 0; i++) {
		int file = create_file(c);
		if (file < 0)
			return 0;
		if (lseek(file, 0, SEEK_SET) != 0)
			failed(c, "lseek");
		moved = transfer(c, file, 3);
		bytes += moved;
		close(file);
	}
	return bytes;
}

static void run(struct context *c, uint64_t n, uint64_t *check)
{
	*check = form_hp ? run_hp(c, n) : run_ncr(c, n);
}

static void finish(struct context *c, uint64_t n, uint64_t *check)
{
	(void)check;
	if (form_hp && n > 0 && unlink(NAME) != 0)
		failed(c, "unlink");
}

static uint64_t expect(struct context *c, uint64_t n)
{
	(void)c;
	return n * (form_hp ? 800 : 900);
}

const struct kernel kernel = {
	.name = "iocall/iocall",
	.setup = setup,
	.run = run,
	.finish = finish,
	.expect = expect,
};
