/* net/transfer: how long it takes to copy a file to the other host (hp-1987, section 8, NFT, figures 8.1, 8.2, 8.5, 8.7, 8.8); net/remote-file: to
 * or from a file system of it that is mounted (RFA, figures 8.3, 8.4, 8.6).
 *
 * One operation is one process that copies a file of size= bytes, from when it is started until it has ended: by= ours (net/copy: connect, name and
 * size, data, count answered), scp, rsync, http, or cp and a mounted file system, sshfs or 9p, with which direction= is to or from the far end, and the file is in no cache. Every transfer makes a new file. After each region the far end compares all files that came, word
 * by word, with what the file must have, and removes them. sync=yes: our receiver answers when the file is on the device.
 */
#define _GNU_SOURCE
#include <inttypes.h>
#include <sys/resource.h>

#include "copying.h"
#include "servers.h"

enum { MOST_FILES = 512 };
#define MOST_BYTES (UINT64_C(1) << 32)

static uint64_t size, number, near_ns, wall_ns;
static int sync_file;
static in_port_t own_port; /* of our receiver */
static struct context *context_of_server;
static uint64_t piece[PIECE / 8];

/* The first has the number of the region, where it is whole. */
static uint64_t word_of(uint64_t i, uint64_t number_of_file)
{
	return i == 0 ? (size < 8 ? 0 : number_of_file) : i * UINT64_C(0x9e3779b97f4a7c15);
}

/* A file of the sender, as it was made for a region. */
static int make_file(const char *path)
{
	int file = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	int well = file >= 0;
	for (uint64_t done = 0; well && done < size;) {
		uint64_t room = size - done < PIECE ? size - done : PIECE;
		for (uint64_t i = 0; i < (room + 7) / 8; i++)
			piece[i] = word_of(done / 8 + i, 0);
		well = write(file, piece, room) == (ssize_t)room;
		done += room;
	}
	if (file >= 0)
		close(file);
	return well;
}

static int set_number(const char *path)
{
	int file = open(path, O_WRONLY | O_CLOEXEC);
	int well = file >= 0 && (size < 8 || pwrite(file, &number, 8, 0) == 8);
	if (file >= 0)
		close(file);
	return well;
}

/* Of a file that came: bytes that are right; those of one that is too long do not count. */
static uint64_t right_bytes(const char *path, uint64_t number_of_file)
{
	int file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	uint64_t done = 0, right = 0;
	ssize_t n;
	while (file >= 0 && (n = read(file, piece, PIECE)) > 0) {
		for (uint64_t i = 0; i < (uint64_t)n; i += 8) {
			uint64_t word = word_of((done + i) / 8, number_of_file), rest = (uint64_t)n - i;
			uint64_t bytes = rest < 8 ? rest : 8;
			right += memcmp(&piece[i / 8], &word, bytes) == 0 ? bytes : 0;
		}
		done += (uint64_t)n;
	}
	if (file < 0)
		return UINT64_MAX;
	close(file);
	return done == size ? right : UINT64_MAX;
}

/* Writes what comes into a new file, whose name is digits alone. */
static uint64_t receive_file(int s, const struct request *request)
{
	char path[NAME_BYTES + 16];
	size_t digits = strnlen(request->name, NAME_BYTES);
	if (digits == 0 || digits == NAME_BYTES || strspn(request->name, "0123456789") != digits)
		complain("a file that is to be written has no name of digits");
	if (request->size != size)
		complain("a file of %" PRIu64 " bytes is announced, and not of %" PRIu64, request->size, size);
	snprintf(path, sizeof path, "received/%s", request->name);
	int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (file < 0)
		complain("%s: %s", path, strerror(errno));
	uint64_t done = 0;
	while (done < size) {
		uint64_t left = size - done;
		ssize_t n = recv(s, piece, left < PIECE ? (size_t)left : PIECE, 0);
		if (n <= 0)
			complain("%s ended after %" PRIu64 " bytes: %s", path, done, n == 0 ? "closed" : strerror(errno));
		if (write(file, piece, (size_t)n) != n)
			complain("cannot write what came: %s", strerror(errno));
		done += (uint64_t)n;
	}
	if (sync_file && fdatasync(file) != 0)
		complain("fdatasync: %s", strerror(errno));
	close(file);
	return done;
}

static uint64_t look_at_files(const struct request *request)
{
	uint64_t right = 0;
	for (uint64_t i = 0; i < request->files && i < MOST_FILES; i++) {
		char path[48];
		snprintf(path, sizeof path, "received/%" PRIu64, i);
		right += right_bytes(path, request->number);
		unlink(path);
	}
	return right;
}

static uint64_t worked_ns(void)
{
	return by == OURS ? cpu_ns() : cpu_ns_of(server);
}

static void serve(void)
{
	int listener = open_far(SOCK_STREAM);
	uint64_t counted = 0;
	if (by != OURS) {
		say_port(start_server(context_of_server));
	}
	for (;;) {
		struct request request;
		struct answer answer = {0};
		int s = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
		if (s < 0 && errno == EAGAIN)
			continue; /* nobody copies now */
		if (s < 0 || !reads_all(s, &request, sizeof request))
			complain("a connection ended, or was silent for %d s, before its request was there", PATIENCE_S);
		check_token(request.token);
		if (request.what == COPY) {
			answer.bytes = receive_file(s, &request);
		} else if (request.what == LOOK) {
			uint64_t now = worked_ns();
			answer = (struct answer){look_at_files(&request), now - counted};
			counted = worked_ns(); /* what it took to compare is no part of the work */
		} else {
			complain("a request is neither of the two that there are");
		}
		if (!writes_all(s, &answer, sizeof answer))
			complain("it cannot answer: %s", strerror(errno));
		close(s);
	}
}

static void read_parameters(struct context *c)
{
	static const char *const programs[] = {"ours", "scp", "rsync", "http", "sshfs", "9p"};
	const char *name = parameter(c, "by", "ours");
	while (by <= NINE_P && strcmp(name, programs[by]) != 0)
		by++;
	size = parameter_u64(c, "size", 0);
	sync_file = strcmp(parameter(c, "sync", "no"), "yes") == 0;
	from_far = strcmp(parameter(c, "direction", "to"), "from") == 0;
	if (by > NINE_P || size > MOST_BYTES)
		wrong_arguments(c, "by= is ours, scp, rsync, http, sshfs or 9p, size= up to %" PRIu64, MOST_BYTES);
	const char *way = parameter(c, "over", "");
	if (strcmp(way, "veth") != 0 && (by != OURS || strcmp(way, "peer") != 0))
		wrong_arguments(c, "over= is veth, or with by=ours peer: files go from one host to another");
}

static int by_ssh(void)
{
	return by == SCP || by == SSHFS;
}

/* What is to be there before there are two ends. */
static int make_files(struct context *c)
{
	if (getcwd(directory, sizeof directory) == NULL || mkdir("received", 0700) != 0) {
		failed(c, "mkdir");
		return 0;
	}
	if (!is_far(c) && !make_file(sent)) {
		skip(c, "a file of %" PRIu64 " bytes cannot be written: %s; choose another directory with --dir", size, strerror(errno));
		return 0;
	}
	return !by_ssh() || make_keys(c);
}

/* The file is served below a directory that has the token for a name. */
static int serve_file(struct context *c)
{
	char path[128];
	snprintf(path, sizeof path, "served/%s", secret);
	int well = mkdir("served", 0700) == 0 && mkdir(path, 0700) == 0;
	snprintf(path, sizeof path, "served/%s/%s", secret, sent);
	well = well && link(sent, path) == 0;
	if (!well)
		failed(c, "link");
	return well;
}

/* The client of ssh knows the key of the far end. */
static void know_host(struct context *c)
{
	char key[256];
	int file = open("host-key.pub", O_RDONLY | O_CLOEXEC);
	ssize_t n = file >= 0 ? read(file, key, sizeof key - 1) : -1;
	key[n > 0 ? n : 0] = '\0';
	if (file >= 0)
		close(file);
	if (n <= 0 || !has_written("known-hosts", "[%s]:%u %s", hosts[1], ntohs(server_port), key))
		failed(c, "write");
}

/* Why a program cannot be measured here; NULL if it can. */
static const char *obstacle(void)
{
	if ((by_ssh() || by == RSYNC || by == NINE_P) && geteuid() != 0)
		return "sshd, the daemon of rsync and a mount take root here";
	if (by == SSHFS && access("/dev/fuse", R_OK | W_OK) != 0)
		return "sshfs takes /dev/fuse";
	return NULL;
}

static void setup(struct context *c)
{
	read_parameters(c);
	const char *why = obstacle();
	if (why != NULL)
		skip(c, "%s", why);
	context_of_server = c;
	if (why != NULL || !make_token(c) || !make_files(c))
		return;
	hex_token();
	give_secret();
	if ((by == HTTP && !serve_file(c)) || !start_far_end(c, serve) || !far_port(c, &own_port))
		return;
	server_port = own_port;
	if (by != OURS && !far_port(c, &server_port))
		return;
	if (by_ssh())
		know_host(c);
	if (by == SSHFS)
		mount_far(c);
	if (by == NINE_P)
		mount_9p(c);
}

/* The file is on the device, and in no cache. */
static int forget(const char *path)
{
	int file = open(path, O_RDWR | O_CLOEXEC);
	int well = file >= 0 && fsync(file) == 0 && posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED) == 0;
	if (file >= 0)
		close(file);
	return well;
}

static void prepare(struct context *c, uint64_t n)
{
	(void)n;
	number++;
	if (!set_number(sent) || (by >= SSHFS && !forget(sent)))
		failed(c, "pwrite");
}

/* Of the programs that copy, and of the one that serves a mounted file system. */
static uint64_t near_work_ns(void)
{
	struct rusage r;
	getrusage(RUSAGE_CHILDREN, &r);
	return (uint64_t)(r.ru_utime.tv_sec + r.ru_stime.tv_sec) * 1000000000u + (uint64_t)(r.ru_utime.tv_usec + r.ru_stime.tv_usec) * 1000u +
	       cpu_ns_of(mounter);
}

static void run(struct context *c, uint64_t n, uint64_t *check)
{
	const char *argv[MOST_ARGUMENTS];
	char name[NAME_BYTES];
	uint64_t begun = near_work_ns(), start = now_ns();
	for (uint64_t i = 0; i < n; i++, ++*check) {
		snprintf(name, sizeof name, "%" PRIu64, i);
		copy_command(c, name, argv);
		if (!runs_well(argv, "program.log")) {
			if (!has_complained(c))
				failed_because(c, "program", "a copy has failed: %s", said_in("program.log"));
			return;
		}
	}
	wall_ns = now_ns() - start;
	near_ns = near_work_ns() - begun;
}

/* A question to our receiver. */
static int ask_to_look(struct context *c, uint64_t files, struct answer *answer)
{
	struct request request = {.what = LOOK, .files = files, .number = number};
	struct sockaddr_storage address;
	socklen_t length = address_of(1, own_port, &address);
	memcpy(request.token, token, TOKEN);
	int s = new_socket(SOCK_STREAM);
	int well = s >= 0 && connect(s, (struct sockaddr *)&address, length) == 0 && writes_all(s, &request, sizeof request) &&
		   reads_all(s, answer, sizeof *answer);
	if (!well)
		lost(c, "look");
	if (s >= 0)
		close(s);
	return well;
}

static void finish(struct context *c, uint64_t n, uint64_t *check)
{
	struct answer answer;
	if (!ask_to_look(c, n, &answer))
		return;
	*check += answer.bytes;
	add_work(n, wall_ns, near_ns, answer.cpu);
}

/* Each copy, and each byte of it. */
static uint64_t expect(struct context *c, uint64_t n)
{
	(void)c;
	return n + n * size;
}

static void teardown(struct context *c)
{
	tell_work(c);
	if (mounter > 0)
		kill(mounter, SIGKILL);
	stop_far_end(c);
}

const struct kernel kernel = {.name = "net/transfer",
			      .setup = setup,
			      .prepare = prepare,
			      .run = run,
			      .finish = finish,
			      .expect = expect,
			      .teardown = teardown,
			      .max_n = MOST_FILES,
			      .children = CHILDREN_ALONE};
