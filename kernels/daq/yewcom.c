/* daq/yewcom: data acquisition: a scanner writes records to a file, and users read them on screens (hp-1987, section 7, table 7.1).
 *
 * A transaction: the operator requests a page; the terminal's display process clears the screen, reads 7 consecutive records (page=1) or 36
 * random ones (page=5), a seek and a read each, and writes 3,000 characters; it ends when the terminal has received the last. line= is the
 * speed of the terminals in characters per second, 960 at 9,600 baud; 0: unlimited. Each record on the screen is compared with the
 * requested one, and the scanner must not lose a point, or be more than late_ms= late (scanner.h). cold=yes: the file is dropped from the
 * page cache before each request, without readahead; points= is the number of points in the file, at least 3,000.
 */
#define _GNU_SOURCE
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>

#include "../multiuser/terminal.h"
#include "../runtime/pty.h"
#include "scanner.h"

enum { SCREEN = 3000, REQUEST = 16, MAX_READS = 36, MAX_USERS = 1000, MAX_POINTS = 10000000, MAX_DIRTY = 64, FIRST_ROW = 4, WIDTH = 38, UNLIMITED = 0 };

struct display {
	int terminal, taken;
	pid_t pid;
	uint32_t seed;
	uint64_t request_ns;  /* start of the transaction, ns */
	uint64_t points; /* written by the scanner at that time */
	struct terminal screen;
};

static struct display *display;
static struct pollfd *fds;
static int users, page, reads, cold;
static uint64_t line_speed, late_ns;
static pid_t scanner;

/* The points on a page. */
static void page_points(uint32_t seed, uint32_t *point)
{
	for (int i = 0; i < reads; i++) {
		seed = seed * 1664525u + (page == 5 || i == 0 ? 1013904223u : 0);
		point[i] = page == 5 || i == 0 ? (seed >> 8) % (uint32_t)points_in_file : (point[i - 1] + 1) % (uint32_t)points_in_file;
	}
}

static int screen_row(int i) { return FIRST_ROW + (page == 5 ? i / 2 : i); }
static int screen_column(int i) { return page == 5 ? i % 2 * (WIDTH + 2) : 0; }

/* One record at its screen position; the checksum shows that it was read completely. */
static int format_record(char *text, size_t available, int i, const struct record *r)
{
	return snprintf(text, available, "\033[%d;%dH%04u pass %06u %8.3f %08x", screen_row(i), screen_column(i) + 1, r->point, r->pass, r->value, r->sum);
}

static _Noreturn void run_display(int terminal, int file)
{
	static char text[SCREEN + 256];
	char request[REQUEST + 1] = "";
	uint32_t point[MAX_READS];
	for (;;) {
		for (ssize_t have = 0, n; have < REQUEST; have += n)
			if ((n = read(terminal, request + have, (size_t)(REQUEST - have))) <= 0)
				_exit(0);
		page_points((uint32_t)strtoul(request, NULL, 16), point);
		int length = snprintf(text, sizeof text, "\033c\033[1;1HYEWCOM  page %d\033[2;1H%.*s", page, COLUMNS - 1,
				      "--------------------------------------------------------------------------------");
		for (int i = 0; i < reads; i++) {
			struct record r;
			if (lseek(file, (off_t)(point[i] * sizeof r), SEEK_SET) < 0 || read(file, &r, sizeof r) != sizeof r)
				_exit(1);
			length += format_record(text + length, sizeof text - (size_t)length, i, &r);
		}
		/* pad to a full screen with attribute sequences, as in 1987 */
		while (length < SCREEN)
			length += snprintf(text + length, sizeof text - (size_t)length, "%.*s", SCREEN - length, "\033[m");
		for (int done = 0, n; done < SCREEN; done += n)
			if ((n = (int)write(terminal, text + done, (size_t)(SCREEN - done))) <= 0)
				_exit(1);
	}
}

static int has_failed;

static void fail(struct context *c, const char *why)
{
	failed_because(c, "yewcom", "%s", why);
	has_failed = 1;
}

static void request_page(struct context *c, struct display *d, uint64_t at)
{
	char request[REQUEST + 1];
	d->seed = d->seed * 1664525u + 1013904223u;
	d->taken = 0;
	if (cold)
		posix_fadvise(data_file, 0, 0, POSIX_FADV_DONTNEED);
	d->request_ns = at;
	d->points = scanner_status->points;
	snprintf(request, sizeof request, "%08x page %d\n", d->seed, page);
	if (write(d->terminal, request, REQUEST) != REQUEST)
		fail(c, "cannot write a request to a terminal");
}

static void setup(struct context *c)
{
	users = (int)parameter_u64(c, "users", 1);
	page = (int)parameter_u64(c, "page", 1);
	reads = page == 5 ? MAX_READS : 7;
	line_speed = parameter_u64(c, "line", UNLIMITED);
	late_ns = parameter_u64(c, "late_ms", 100) * 1000000;
	points_in_file = parameter_u64(c, "points", POINTS);
	cold = strcmp(parameter(c, "cold", "no"), "yes") == 0;
	if (points_in_file < POINTS || points_in_file > MAX_POINTS)
		wrong_arguments(c, "points= is from %d to %d", POINTS, MAX_POINTS);
	if (users < 1 || users > MAX_USERS || (page != 1 && page != 5) || line_speed > 1000000)
		wrong_arguments(c, "users= is from 1 to %d, page= 1 or 5, line= up to 1000000", MAX_USERS);
	display = calloc((size_t)users, sizeof *display);
	fds = calloc((size_t)users, sizeof *fds);
	if (display == NULL || fds == NULL) {
		failed(c, "calloc");
		return;
	}
	scanner = start_scanner(c, late_ns, cold);
	for (int i = 0, slave = -1; i < users && scanner > 0; i++) {
		struct display *d = &display[i];
		open_pty(c, &slave, &d->terminal);
		int file = open("points", O_RDONLY | O_CLOEXEC); /* own file offset */
		if (cold && file >= 0)
			posix_fadvise(file, 0, 0, POSIX_FADV_RANDOM);
		if (d->terminal < 0 || file < 0 || (d->pid = fork_peer(c)) < 0) {
			failed(c, "fork");
			return;
		}
		if (d->pid == 0)
			run_display(slave, file);
		close(slave);
		close(file);
		fcntl(d->terminal, F_SETFL, O_NONBLOCK);
		fds[i] = (struct pollfd){.fd = d->terminal, .events = POLLIN};
		d->seed = (uint32_t)i;
		/* slow lines start staggered, so that their screens do not end together */
		request_page(c, d, now_ns() + (line_speed > 0 ? (uint64_t)i * SCREEN * 1000000000u / line_speed / (uint64_t)users : 0));
	}
}

/* Whether the screen shows the requested records, complete and not older than the request. */
static int is_correct(const struct display *d)
{
	uint32_t point[MAX_READS];
	page_points(d->seed, point);
	for (int i = 0; i < reads; i++) {
		unsigned is, pass, sum;
		double value;
		const char *place = d->screen.cell[screen_row(i) - 1] + screen_column(i);
		if (sscanf(place, "%u pass %u %lf %x", &is, &pass, &value, &sum) != 4 || is != point[i] ||
		    pass < completed_passes(is, d->points) || pass > completed_passes(is, scanner_status->points + 1))
			return 0;
		const struct record r = make_record((pass > 0 ? pass - 1 : 0) * points_in_file + is, pass == 0);
		if (sum != r.sum)
			return 0;
	}
	return 1;
}

/* Reads as many characters as the line speed permits. Returns whether a screen is complete. */
static int read_display(struct context *c, struct display *d, uint64_t now)
{
	char bytes[SCREEN];
	uint64_t allowed = line_speed == UNLIMITED ? SCREEN : now < d->request_ns ? 0 : (now - d->request_ns) * line_speed / 1000000000u;
	int available = (int)(allowed < SCREEN ? allowed : SCREEN) - d->taken;
	ssize_t n = available > 0 ? read(d->terminal, bytes, (size_t)available) : 0;
	for (ssize_t i = 0; i < n; i++)
		terminal_feed(&d->screen, bytes[i]);
	d->taken += n > 0 ? (int)n : 0;
	if (available > 0 && (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)))
		fail(c, "a display process has exited");
	if (d->taken < SCREEN)
		return 0;
	if (!is_correct(d))
		fail(c, "a screen does not show the requested records");
	record(c, d->request_ns, now);
	respond(c, (uint64_t)users, page == 1 ? "page1" : "page5", d->request_ns, now);
	request_page(c, d, now);
	return 1;
}

/* Sleeps until the next screen is complete on a slow line, at most 20 ms. */
static void wait_for_characters(void)
{
	uint64_t now = now_ns(), wait = 20000000;
	for (int i = 0; i < users; i++) {
		uint64_t end = display[i].request_ns + SCREEN * UINT64_C(1000000000) / line_speed;
		if (end <= now + wait)
			wait = end > now ? end - now : 0;
	}
	const struct timespec span = {0, (long)wait};
	nanosleep(&span, NULL);
}

static void run(struct context *c, uint64_t n, uint64_t *check)
{
	static int first; /* round robin */
	for (uint64_t done = 0; done < n;) {
		if (line_speed > 0)
			wait_for_characters();
		else
			poll(fds, (nfds_t)users, 1000);
		uint64_t now = now_ns();
		for (int i = 0; i < users && done < n; i++, first = (first + 1) % users)
			if (line_speed > 0 || fds[first].revents != 0)
				done += (uint64_t)read_display(c, &display[first], now);
		if (waitpid(scanner, NULL, WNOHANG) != 0)
			fail(c, "the scanner has exited: is the disk full?");
		if (has_failed)
			return;
		*check = done;
	}
}

/* The page cache may hold the pages read since the last request, and the scanner's dirty pages. */
static void check_cold(struct context *c)
{
	size_t allowed = (size_t)users * MAX_READS + MAX_DIRTY, left = resident_pages(c, data_file);
	if (left > allowed)
		failed_because(c, "posix_fadvise", "%u pages of the file are in the page cache, at most %u expected", (unsigned)left, (unsigned)allowed);
}

static void finish(struct context *c, uint64_t n, uint64_t *check)
{
	(void)n;
	(void)check;
	if (cold)
		check_cold(c);
	check_points(c, late_ns);
}

static uint64_t expect(struct context *c, uint64_t n)
{
	(void)c;
	return n;
}

static void teardown(struct context *c)
{
	note(c, "latest_us", "%llu", (unsigned long long)(scanner_status->latest_ns / 1000));
	kill(scanner, SIGKILL);
	for (int i = 0; i < users; i++)
		kill(display[i].pid, SIGKILL);
	while (wait(NULL) > 0)
		;
}

const struct kernel kernel = {.name = "daq/yewcom",
			      .setup = setup,
			      .run = run,
			      .finish = finish,
			      .expect = expect,
			      .teardown = teardown,
			      .children = CHILDREN_TOO};
