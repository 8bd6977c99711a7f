/* daq/yewcom: a scanner that fills a file of records, and users who look at it on screens (hp-1987, section 7, table 7.1).
 *
 * A transaction: the operator asks for a page; the display process of that terminal initializes the screen, reads 7 records in sequence
 * (page=1) or 36 at random (page=5), a seek and a read each, and writes 3,000 characters; the terminal has taken the last of them.
 * line= is the speed of the terminals in characters a second, 960 at 9,600 baud; 0: they take all at once. The operator compares each
 * record on the screen with the one that was asked for, and the scanner must not lose a point meanwhile (scanner.h): late_ms=.
 * cold=yes: each request finds nothing of the file in memory, and nothing is read ahead; points= are in the file, 3,000 unless there are more.
 */
#define _GNU_SOURCE
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>

#include "../multiuser/terminal.h"
#include "../runtime/pty.h"
#include "scanner.h"

enum { SCREEN = 3000, REQUEST = 16, MOST_READS = 36, MOST_USERS = 1000, MOST_POINTS = 10000000, MOST_DIRTY = 64, FIRST_ROW = 4, WIDTH = 38, AT_ONCE = 0 };

struct display {
	int terminal, taken;
	pid_t pid;
	uint32_t seed;
	uint64_t since;  /* ns: when the first character of a screen may come */
	uint64_t points; /* that the scanner had written then */
	struct terminal screen;
};

static struct display *display;
static struct pollfd *fds;
static int users, page, reads, cold;
static uint64_t line_speed, late_ns;
static pid_t scanner;

/* The points that a page shows, by its seed. */
static void points_of(uint32_t seed, uint32_t *point)
{
	for (int i = 0; i < reads; i++) {
		seed = seed * 1664525u + (page == 5 || i == 0 ? 1013904223u : 0);
		point[i] = page == 5 || i == 0 ? (seed >> 8) % (uint32_t)points_in_file : (point[i - 1] + 1) % (uint32_t)points_in_file;
	}
}

static int row_of(int i) { return FIRST_ROW + (page == 5 ? i / 2 : i); }
static int column_of(int i) { return page == 5 ? i % 2 * (WIDTH + 2) : 0; }

/* One record in its place of the screen: the sum shows that all of it was read. */
static int show(char *text, size_t room, int i, const struct record *r)
{
	return snprintf(text, room, "\033[%d;%dH%04u pass %06u %8.3f %08x", row_of(i), column_of(i) + 1, r->point, r->pass, r->value, r->sum);
}

/* A display process: it sleeps until its operator asks for a page. */
static _Noreturn void be_display(int terminal, int file)
{
	static char text[SCREEN + 256];
	char request[REQUEST + 1] = "";
	uint32_t point[MOST_READS];
	for (;;) {
		for (ssize_t have = 0, n; have < REQUEST; have += n)
			if ((n = read(terminal, request + have, (size_t)(REQUEST - have))) <= 0)
				_exit(0);
		points_of((uint32_t)strtoul(request, NULL, 16), point);
		int length = snprintf(text, sizeof text, "\033c\033[1;1HYEWCOM  page %d\033[2;1H%.*s", page, COLUMNS - 1,
				      "--------------------------------------------------------------------------------");
		for (int i = 0; i < reads; i++) {
			struct record r;
			if (lseek(file, (off_t)(point[i] * sizeof r), SEEK_SET) < 0 || read(file, &r, sizeof r) != sizeof r)
				_exit(1);
			length += show(text + length, sizeof text - (size_t)length, i, &r);
		}
		/* what made up the rest of a screen then, attributes, changes nothing here */
		while (length < SCREEN)
			length += snprintf(text + length, sizeof text - (size_t)length, "%.*s", SCREEN - length, "\033[m");
		for (int done = 0, n; done < SCREEN; done += n)
			if ((n = (int)write(terminal, text + done, (size_t)(SCREEN - done))) <= 0)
				_exit(1);
	}
}

static int is_over;

static void over(struct context *c, const char *why)
{
	failed_because(c, "yewcom", "%s", why);
	is_over = 1;
}

static void ask(struct context *c, struct display *d, uint64_t at)
{
	char request[REQUEST + 1];
	d->seed = d->seed * 1664525u + 1013904223u;
	d->taken = 0;
	if (cold)
		posix_fadvise(data_file, 0, 0, POSIX_FADV_DONTNEED);
	d->since = at;
	d->points = scanned->points;
	snprintf(request, sizeof request, "%08x page %d\n", d->seed, page);
	if (write(d->terminal, request, REQUEST) != REQUEST)
		over(c, "a terminal takes no request");
}

static void setup(struct context *c)
{
	users = (int)parameter_u64(c, "users", 1);
	page = (int)parameter_u64(c, "page", 1);
	reads = page == 5 ? MOST_READS : 7;
	line_speed = parameter_u64(c, "line", AT_ONCE);
	late_ns = parameter_u64(c, "late_ms", 100) * 1000000;
	points_in_file = parameter_u64(c, "points", POINTS);
	cold = strcmp(parameter(c, "cold", "no"), "yes") == 0;
	if (points_in_file < POINTS || points_in_file > MOST_POINTS)
		wrong_arguments(c, "points= is from %d to %d", POINTS, MOST_POINTS);
	if (users < 1 || users > MOST_USERS || (page != 1 && page != 5) || line_speed > 1000000)
		wrong_arguments(c, "users= is from 1 to %d, page= 1 or 5, line= up to 1000000", MOST_USERS);
	display = calloc((size_t)users, sizeof *display);
	fds = calloc((size_t)users, sizeof *fds);
	if (display == NULL || fds == NULL) {
		failed(c, "calloc");
		return;
	}
	scanner = start_scanner(c, late_ns, cold);
	for (int i = 0, own = -1; i < users && scanner > 0; i++) {
		struct display *d = &display[i];
		open_pty(c, &own, &d->terminal);
		int file = open("points", O_RDONLY | O_CLOEXEC); /* a place in the file of its own */
		if (cold && file >= 0)
			posix_fadvise(file, 0, 0, POSIX_FADV_RANDOM);
		if (d->terminal < 0 || file < 0 || (d->pid = fork_peer(c)) < 0) {
			failed(c, "fork");
			return;
		}
		if (d->pid == 0)
			be_display(own, file);
		close(own);
		close(file);
		fcntl(d->terminal, F_SETFL, O_NONBLOCK);
		fds[i] = (struct pollfd){.fd = d->terminal, .events = POLLIN};
		d->seed = (uint32_t)i;
		/* lines that are slow begin one after the other, so that their screens do not end together */
		ask(c, d, now_ns() + (line_speed > 0 ? (uint64_t)i * SCREEN * 1000000000u / line_speed / (uint64_t)users : 0));
	}
}

/* Whether the screen shows just the records that were asked for, each whole, and none older than when they were. */
static int is_right(const struct display *d)
{
	uint32_t point[MOST_READS];
	points_of(d->seed, point);
	for (int i = 0; i < reads; i++) {
		unsigned is, pass, sum;
		double value;
		const char *place = d->screen.cell[row_of(i) - 1] + column_of(i);
		if (sscanf(place, "%u pass %u %lf %x", &is, &pass, &value, &sum) != 4 || is != point[i] ||
		    pass < passes_of(is, d->points) || pass > passes_of(is, scanned->points + 1))
			return 0;
		const struct record r = record_of((pass > 0 ? pass - 1 : 0) * points_in_file + is, pass == 0);
		if (sum != r.sum)
			return 0;
	}
	return 1;
}

/* Takes what a terminal may take by now; whether a screen has ended that is right. */
static int take(struct context *c, struct display *d, uint64_t now)
{
	char bytes[SCREEN];
	uint64_t may = line_speed == AT_ONCE ? SCREEN : now < d->since ? 0 : (now - d->since) * line_speed / 1000000000u;
	int room = (int)(may < SCREEN ? may : SCREEN) - d->taken;
	ssize_t n = room > 0 ? read(d->terminal, bytes, (size_t)room) : 0;
	for (ssize_t i = 0; i < n; i++)
		terminal_take(&d->screen, bytes[i]);
	d->taken += n > 0 ? (int)n : 0;
	if (room > 0 && (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)))
		over(c, "a display process has ended");
	if (d->taken < SCREEN)
		return 0;
	if (!is_right(d))
		over(c, "a screen does not show the records that were asked for");
	record(c, d->since, now);
	respond(c, (uint64_t)users, page == 1 ? "page1" : "page5", d->since, now);
	ask(c, d, now);
	return 1;
}

/* Until a screen ends on a slow line, or a fiftieth of a second: nobody looks faster. */
static void wait_for_characters(void)
{
	uint64_t now = now_ns(), wait = 20000000;
	for (int i = 0; i < users; i++) {
		uint64_t end = display[i].since + SCREEN * UINT64_C(1000000000) / line_speed;
		if (end <= now + wait)
			wait = end > now ? end - now : 0;
	}
	const struct timespec span = {0, (long)wait};
	nanosleep(&span, NULL);
}

static void run(struct context *c, uint64_t n, uint64_t *check)
{
	static int first; /* terminals have their turn: who is first changes */
	for (uint64_t done = 0; done < n;) {
		if (line_speed > 0)
			wait_for_characters();
		else
			poll(fds, (nfds_t)users, 1000);
		uint64_t now = now_ns();
		for (int i = 0; i < users && done < n; i++, first = (first + 1) % users)
			if (line_speed > 0 || fds[first].revents != 0)
				done += (uint64_t)take(c, &display[first], now);
		if (waitpid(scanner, NULL, WNOHANG) != 0)
			over(c, "the scanner has ended: is the disk full?");
		if (is_over)
			return;
		*check = done;
	}
}

/* What was read since the last request is in memory, and what the scanner has written and not yet the kernel. */
static void must_have_been_cold(struct context *c)
{
	size_t may = (size_t)users * MOST_READS + MOST_DIRTY, left = pages_in_memory(c, data_file);
	if (left > may)
		failed_because(c, "posix_fadvise", "%u pages of the file stay in memory, where %u may", (unsigned)left, (unsigned)may);
}

static void finish(struct context *c, uint64_t n, uint64_t *check)
{
	(void)n;
	(void)check;
	if (cold)
		must_have_been_cold(c);
	look_at_points(c, late_ns);
}

static uint64_t expect(struct context *c, uint64_t n)
{
	(void)c;
	return n;
}

static void teardown(struct context *c)
{
	note(c, "latest_us", "%llu", (unsigned long long)(scanned->latest_ns / 1000));
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
