/* net/transfer: how long it takes to copy a file to the other host (hp-1987, section 8, NFT, figures 8.1, 8.2, 8.5, 8.7, 8.8); net/remote-file: to
 * or from a file system of it that is mounted (RFA, figures 8.3, 8.4, 8.6).
 *
 * One operation is one process that copies a file of size= bytes, from when it is started until it has ended: by= ours (net/copy: connect, name and
 * size, data, count answered), scp, rsync, http, or cp and a mounted file system, sshfs, 9p or nfs. direction= is to or from the far end where it is
 * mounted; http is from it. Before a region a file that is mounted is in no cache. Every transfer makes a new file. After each region the end to which
 * they came compares all files, word by word, with what the file must have, and removes them. sync=yes: our receiver answers when the file is on the
 * device.
 */
#define _GNU_SOURCE
#include <inttypes.h>
#include <sys/resource.h>

#include "transfer_wire.h"
#include "mounts.h"

enum { MOST_FILES = 512 };
#define MOST_BYTES (UINT64_C(1) << 32)

static uint64_t size, number, near_ns, wall_ns;
static int sync_file, over_peer;
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

/* Bytes that are right of the files that have come to this end. */
static uint64_t look_at_files(uint64_t files, uint64_t number_of_files)
{
	uint64_t right = 0;
	for (uint64_t i = 0; i < files && i < MOST_FILES; i++) {
		char path[48];
		snprintf(path, sizeof path, "received/%" PRIu64, i);
		right += right_bytes(path, number_of_files);
		unlink(path);
	}
	return right;
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

/* Before a region, of the end from which the file comes. */
static int make_ready(void)
{
	return set_number(sent) && (by < SSHFS || forget(sent));
}

/* The key of the client of ssh. */
static void take_key(int s, const struct request *request)
{
	char key[256];
	if (request->size >= sizeof key || !reads_all(s, key, request->size))
		complain("a key did not come whole");
	key[request->size] = '\0';
	if (!has_written("user-key.pub", "%s", key))
		complain("it cannot write a key: %s", strerror(errno));
}

static uint64_t worked_ns(void)
{
	return by == OURS ? cpu_ns() : cpu_ns_of(server);
}

/* What the far end has before it serves. */
static void prepare_far(void)
{
	enter_own_directory();
	if (mkdir("received", 0700) != 0)
		complain("mkdir: %s", strerror(errno));
	if (from_far && !make_file(sent))
		lacks("a file of %" PRIu64 " bytes cannot be written: %s", size, strerror(errno));
}

static void serve(void)
{
	prepare_far();
	int listener = open_far(SOCK_STREAM);
	uint64_t counted = 0;
	if (by != OURS)
		start_server(context_of_server);
	for (;;) {
		struct request request;
		struct answer answer = {0};
		int s = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
		if (s < 0 && errno == EAGAIN)
			continue; /* nobody copies now */
		if (s < 0 || !reads_all(s, &request, sizeof request))
			complain("a connection ended, or was silent for %d s, before its request was there", PATIENCE_S);
		check_token(request.token);
		switch (request.what) {
		case COPY:
			answer.bytes = receive_file(s, &request);
			break;
		case LOOK:
			answer.cpu = worked_ns() - counted;
			answer.bytes = look_at_files(request.files, request.number);
			counted = worked_ns(); /* what it took to compare is no part of the work */
			break;
		case READY:
			number = request.number;
			if (!make_ready())
				complain("it cannot change the file: %s", strerror(errno));
			break;
		case KEY:
			take_key(s, &request);
			break;
		default:
			complain("a request is none of those that there are");
		}
		if (!writes_all(s, &answer, sizeof answer))
			complain("it cannot answer: %s", strerror(errno));
		close(s);
	}
}

static void read_parameters(struct context *c)
{
	static const char *const programs[] = {"ours", "scp", "rsync", "http", "sshfs", "9p", "nfs"};
	const char *name = parameter(c, "by", "ours");
	while (by <= NFS && strcmp(name, programs[by]) != 0)
		by++;
	size = parameter_u64(c, "size", 0);
	sync_file = strcmp(parameter(c, "sync", "no"), "yes") == 0;
	from_far = by == HTTP || strcmp(parameter(c, "direction", "to"), "from") == 0;
	if (by > NFS || size > MOST_BYTES)
		wrong_arguments(c, "by= is ours, scp, rsync, http, sshfs, 9p or nfs, size= up to %" PRIu64, MOST_BYTES);
	const char *way = parameter(c, "over", "");
	over_peer = strcmp(way, "peer") == 0;
	if ((strcmp(way, "veth") != 0 && !over_peer) || (over_peer && by >= NINE_P))
		wrong_arguments(c, "over= is veth or peer, and with by=9p or nfs veth: files go from one host to another, and these have no authentication");
}

/* What the near end has before there are two; 0 after a failure, or where something is missing. */
static int make_files(struct context *c)
{
	if (getcwd(directory, sizeof directory) == NULL || mkdir("received", 0700) != 0) {
		failed(c, "mkdir");
		return 0;
	}
	if (!from_far && !make_file(sent)) {
		skip(c, "a file of %" PRIu64 " bytes cannot be written: %s; choose another directory with --dir", size, strerror(errno));
		return 0;
	}
	if (!by_ssh() || has_made_key(parameter(c, "ssh-keygen", "ssh-keygen"), "user-key"))
		return 1;
	failed_because(c, "ssh-keygen", "it makes no key: %s", said_in("ssh-keygen.log"));
	return 0;
}

/* Why a program cannot be measured here; NULL if it can. */
static const char *obstacle(void)
{
	if ((by_ssh() || by == RSYNC || by >= NINE_P) && !over_peer && geteuid() != 0)
		return "sshd, the daemon of rsync and a mount take root in a network namespace";
	if (by >= SSHFS && geteuid() != 0)
		return "a mount takes root here";
	if (by == SSHFS && access("/dev/fuse", R_OK | W_OK) != 0)
		return "sshfs takes /dev/fuse";
	return NULL;
}

/* A request to our receiver, with what follows it; 0 after a failure. */
static int ask(struct context *c, struct request request, const char *more, struct answer *answer)
{
	struct sockaddr_storage address;
	socklen_t length = address_of(1, own_port, &address);
	memcpy(request.token, token, TOKEN);
	int s = new_socket(SOCK_STREAM);
	int well = s >= 0 && connect(s, (struct sockaddr *)&address, length) == 0 && writes_all(s, &request, sizeof request) &&
		   writes_all(s, more, strlen(more)) && reads_all(s, answer, sizeof *answer);
	if (!well)
		lost(c, "ask");
	if (s >= 0)
		close(s);
	return well;
}

/* The far end knows the key of this one, and this one its host's. */
static int exchange_keys(struct context *c, const char *host)
{
	char key[256];
	struct answer answer;
	read_text("user-key.pub", key, sizeof key);
	if (know_host(host))
		return ask(c, (struct request){.what = KEY, .size = strlen(key)}, key, &answer);
	failed_because(c, "far_end", "it does not say who it is");
	return 0;
}

static void setup(struct context *c)
{
	struct said said;
	read_parameters(c);
	context_of_server = c;
	const char *why = is_far(c) ? NULL : obstacle();
	if (why != NULL)
		skip(c, "%s", why);
	if (why != NULL || !make_token(c) || (!is_far(c) && !make_files(c)))
		return;
	hex_token();
	give_secret();
	if (!start_far_end(c, serve) || !far_port(c, &own_port))
		return;
	server_port = own_port;
	if (by == OURS || !far_server(c, &said))
		return;
	server_port = said.port;
	if (by_ssh() && !exchange_keys(c, said.text))
		return;
	if (by == SSHFS)
		mount_sshfs(c);
	if (by == NINE_P) {
		snprintf(far_directory, sizeof far_directory, "%s", said.text);
		mount_9p(c);
	}
	if (by == NFS)
		mount_nfs(c);
}

static void prepare(struct context *c, uint64_t n)
{
	struct answer answer;
	(void)n;
	number++;
	if (from_far)
		ask(c, (struct request){.what = READY, .number = number}, "", &answer);
	else if (!make_ready())
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

static void finish(struct context *c, uint64_t n, uint64_t *check)
{
	struct answer answer;
	if (!ask(c, (struct request){.what = LOOK, .files = from_far ? 0 : n, .number = number}, "", &answer))
		return;
	*check += from_far ? look_at_files(n, number) : answer.bytes;
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
	/* while there is a server to take leave of */
	if (by == NFS)
		umount2("mounted", 0);
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
