/* net/transfer: file copy to another host (hp-1987, section 8, NFT, figures 8.1, 8.2, 8.5, 8.7, 8.8); net/remote-file: to or from a mounted
 * file system of that host (RFA, figures 8.3, 8.4, 8.6).
 *
 * One operation is one process, from its start to its exit, that copies a file of size= bytes: by= ours (net/copy: connect, name and size,
 * data, reply with the count), scp, rsync, http, or cp on a mounted file system, sshfs, 9p or nfs. direction= is to or from the server for
 * mounts; http is from it. Before a region a mounted file is dropped from the page cache. Every transfer creates a new file. After each
 * region the receiving side compares all files, word by word, with the expected content, and removes them. sync=yes: our receiver replies
 * after fdatasync(2).
 */
#define _GNU_SOURCE
#include <inttypes.h>
#include <sys/resource.h>

#include "transfer_wire.h"
#include "mounts.h"

enum { MAX_FILES = 512 };
#define MAX_BYTES (UINT64_C(1) << 32)

static uint64_t size, number, client_ns, wall_ns;
static int sync_file, over_peer;
static in_port_t receiver_port; /* of by=ours */
static struct context *daemon_context;
static uint64_t piece[PIECE / 8];

/* The first word holds the number of the region if the file is at least 8 bytes long. */
static uint64_t expected_word(uint64_t i, uint64_t file_number)
{
	return i == 0 ? (size < 8 ? 0 : file_number) : i * UINT64_C(0x9e3779b97f4a7c15);
}

static int make_file(const char *path)
{
	int file = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	int ok = file >= 0;
	for (uint64_t done = 0; ok && done < size;) {
		uint64_t length = size - done < PIECE ? size - done : PIECE;
		for (uint64_t i = 0; i < (length + 7) / 8; i++)
			piece[i] = expected_word(done / 8 + i, 0);
		ok = write(file, piece, length) == (ssize_t)length;
		done += length;
	}
	if (file >= 0)
		close(file);
	return ok;
}

static int set_number(const char *path)
{
	int file = open(path, O_WRONLY | O_CLOEXEC);
	int ok = file >= 0 && (size < 8 || pwrite(file, &number, 8, 0) == 8);
	if (file >= 0)
		close(file);
	return ok;
}

/* Correct bytes of a received file; UINT64_MAX for a wrong length. */
static uint64_t count_right_bytes(const char *path, uint64_t file_number)
{
	int file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	uint64_t done = 0, correct = 0;
	ssize_t n;
	while (file >= 0 && (n = read(file, piece, PIECE)) > 0) {
		for (uint64_t i = 0; i < (uint64_t)n; i += 8) {
			uint64_t word = expected_word((done + i) / 8, file_number), rest = (uint64_t)n - i;
			uint64_t bytes = rest < 8 ? rest : 8;
			correct += memcmp(&piece[i / 8], &word, bytes) == 0 ? bytes : 0;
		}
		done += (uint64_t)n;
	}
	if (file < 0)
		return UINT64_MAX;
	close(file);
	return done == size ? correct : UINT64_MAX;
}

static uint64_t receive_file(int s, const struct request *request)
{
	char path[NAME_BYTES + 16];
	size_t digits = strnlen(request->name, NAME_BYTES);
	if (digits == 0 || digits == NAME_BYTES || strspn(request->name, "0123456789") != digits)
		server_fail("the name of a file does not consist of digits");
	if (request->size != size)
		server_fail("a file of %" PRIu64 " bytes is announced instead of %" PRIu64, request->size, size);
	snprintf(path, sizeof path, "received/%s", request->name);
	int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (file < 0)
		server_fail("%s: %s", path, strerror(errno));
	uint64_t done = 0;
	while (done < size) {
		uint64_t left = size - done;
		ssize_t n = recv(s, piece, left < PIECE ? (size_t)left : PIECE, 0);
		if (n <= 0)
			server_fail("%s: connection closed after %" PRIu64 " bytes: %s", path, done, n == 0 ? "closed" : strerror(errno));
		if (write(file, piece, (size_t)n) != n)
			server_fail("cannot write a received file: %s", strerror(errno));
		done += (uint64_t)n;
	}
	if (sync_file && fdatasync(file) != 0)
		server_fail("fdatasync: %s", strerror(errno));
	close(file);
	return done;
}

/* Correct bytes of all received files; removes them. */
static uint64_t check_files(uint64_t files, uint64_t file_number)
{
	uint64_t correct = 0;
	for (uint64_t i = 0; i < files && i < MAX_FILES; i++) {
		char path[48];
		snprintf(path, sizeof path, "received/%" PRIu64, i);
		correct += count_right_bytes(path, file_number);
		unlink(path);
	}
	return correct;
}

/* Writes the file back, and drops it from the page cache. */
static int drop_cache(const char *path)
{
	int file = open(path, O_RDWR | O_CLOEXEC);
	int ok = file >= 0 && fsync(file) == 0 && posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED) == 0;
	if (file >= 0)
		close(file);
	return ok;
}

/* Before a region, on the sending side. */
static int prepare_file(void)
{
	return set_number(source_file) && (by < SSHFS || drop_cache(source_file));
}

/* The public key of the ssh client. */
static void receive_key(int s, const struct request *request)
{
	char key[256];
	if (request->size >= sizeof key || !recv_all(s, key, request->size))
		server_fail("cannot read a key");
	key[request->size] = '\0';
	if (!write_text_file("user-key.pub", "%s", key))
		server_fail("cannot write a key: %s", strerror(errno));
}

static uint64_t server_cpu_ns(void)
{
	return by == OURS ? cpu_ns() : cpu_ns_of(daemon_pid);
}

static void prepare_server(void)
{
	enter_server_directory();
	if (mkdir("received", 0700) != 0)
		server_fail("mkdir: %s", strerror(errno));
	if (from_server && !make_file(source_file))
		server_skip("a file of %" PRIu64 " bytes cannot be written: %s", size, strerror(errno));
}

static void serve(void)
{
	prepare_server();
	int listener = open_server_socket(SOCK_STREAM);
	uint64_t reported_ns = 0;
	if (by != OURS)
		start_daemon(daemon_context);
	for (;;) {
		struct request request;
		struct reply reply = {0};
		int s = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
		if (s < 0 && errno == EAGAIN)
			continue; /* idle */
		if (s < 0 || !recv_all(s, &request, sizeof request))
			server_fail("a connection was closed, or idle for %d s, before its request was complete", TIMEOUT_S);
		check_token(request.token);
		switch (request.what) {
		case COPY:
			reply.bytes = receive_file(s, &request);
			break;
		case CHECK_FILES:
			reply.cpu = server_cpu_ns() - reported_ns;
			reply.bytes = check_files(request.files, request.number);
			reported_ns = server_cpu_ns(); /* excludes the comparison */
			break;
		case PREPARE_FILE:
			number = request.number;
			if (!prepare_file())
				server_fail("cannot change the file: %s", strerror(errno));
			break;
		case SET_KEY:
			receive_key(s, &request);
			break;
		default:
			server_fail("unknown request");
		}
		if (!send_all(s, &reply, sizeof reply))
			server_fail("cannot send a reply: %s", strerror(errno));
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
	from_server = by == HTTP || strcmp(parameter(c, "direction", "to"), "from") == 0;
	if (by > NFS || size > MAX_BYTES)
		wrong_arguments(c, "by= is ours, scp, rsync, http, sshfs, 9p or nfs, size= up to %" PRIu64, MAX_BYTES);
	const char *network_name = parameter(c, "over", "");
	over_peer = strcmp(network_name, "peer") == 0;
	if ((strcmp(network_name, "veth") != 0 && !over_peer) || (over_peer && by >= NINE_P))
		wrong_arguments(c, "over= is veth or peer, and with by=9p or nfs veth: files go from one host to another, and these have no authentication");
}

/* The client's files, before the fork. Returns 0 on failure or skip. */
static int make_files(struct context *c)
{
	if (getcwd(directory, sizeof directory) == NULL || mkdir("received", 0700) != 0) {
		failed(c, "mkdir");
		return 0;
	}
	if (!from_server && !make_file(source_file)) {
		skip(c, "a file of %" PRIu64 " bytes cannot be written: %s; choose another directory with --dir", size, strerror(errno));
		return 0;
	}
	if (!by_ssh() || make_key(parameter(c, "ssh-keygen", "ssh-keygen"), "user-key"))
		return 1;
	failed_because(c, "ssh-keygen", "it cannot create a key: %s", log_tail("ssh-keygen.log"));
	return 0;
}

/* NULL if the program can be measured here. */
static const char *skip_reason(struct context *c)
{
	if ((by_ssh() || by == RSYNC || by >= NINE_P) && !over_peer && geteuid() != 0)
		return "sshd, the daemon of rsync and a mount take root in a network namespace";
	if (by >= SSHFS && geteuid() != 0)
		return "a mount takes root here";
	if (by == SSHFS && access("/dev/fuse", R_OK | W_OK) != 0)
		return "sshfs takes /dev/fuse";
	if (by == SCP && !scp_speaks_sftp(c))
		return "this scp cannot use SFTP, which the server requires: install OpenSSH 8.7 or later";
	return NULL;
}

/* A request with trailing data to the server process. Returns 0 on failure. */
static int send_request(struct context *c, struct request request, const char *more, struct reply *reply)
{
	struct sockaddr_storage address;
	socklen_t length = address_of(1, receiver_port, &address);
	memcpy(request.token, token, TOKEN);
	int s = new_socket(SOCK_STREAM);
	int ok = s >= 0 && connect(s, (struct sockaddr *)&address, length) == 0 && send_all(s, &request, sizeof request) &&
		   send_all(s, more, strlen(more)) && recv_all(s, reply, sizeof *reply);
	if (!ok)
		call_failed(c, "ask");
	if (s >= 0)
		close(s);
	return ok;
}

static int exchange_keys(struct context *c, const char *host)
{
	char key[256];
	struct reply reply;
	read_text("user-key.pub", key, sizeof key);
	if (parse_host(host))
		return send_request(c, (struct request){.what = SET_KEY, .size = strlen(key)}, key, &reply);
	failed_because(c, "far_end", "its description cannot be parsed");
	return 0;
}

static void setup(struct context *c)
{
	struct report report;
	read_parameters(c);
	daemon_context = c;
	const char *why = is_server(c) ? NULL : skip_reason(c);
	if (why != NULL)
		skip(c, "%s", why);
	if (why != NULL || !make_token(c) || (!is_server(c) && !make_files(c)))
		return;
	hex_token();
	set_secret_variable();
	if (!start_server(c, serve) || !await_port(c, &receiver_port))
		return;
	daemon_port = receiver_port;
	if (by == OURS || !await_announcement(c, &report))
		return;
	daemon_port = report.port;
	if (by_ssh() && !exchange_keys(c, report.text))
		return;
	if (by == SSHFS)
		mount_sshfs(c);
	if (by == NINE_P) {
		snprintf(server_directory, sizeof server_directory, "%s", report.text);
		mount_9p(c);
	}
	if (by == NFS)
		mount_nfs(c);
}

static void prepare(struct context *c, uint64_t n)
{
	struct reply reply;
	(void)n;
	number++;
	if (from_server)
		send_request(c, (struct request){.what = PREPARE_FILE, .number = number}, "", &reply);
	else if (!prepare_file())
		failed(c, "pwrite");
}

/* CPU time of the copying programs and of sshfs. */
static uint64_t client_cpu_ns(void)
{
	struct rusage r;
	getrusage(RUSAGE_CHILDREN, &r);
	return (uint64_t)(r.ru_utime.tv_sec + r.ru_stime.tv_sec) * 1000000000u + (uint64_t)(r.ru_utime.tv_usec + r.ru_stime.tv_usec) * 1000u +
	       cpu_ns_of(sshfs_pid);
}

static void run(struct context *c, uint64_t n, uint64_t *check)
{
	const char *argv[MAX_ARGUMENTS];
	char name[NAME_BYTES];
	uint64_t cpu_start = client_cpu_ns(), start = now_ns();
	for (uint64_t i = 0; i < n; i++, ++*check) {
		snprintf(name, sizeof name, "%" PRIu64, i);
		copy_command(c, name, argv);
		if (!run_program(argv, "program.log")) {
			if (!server_has_failed(c))
				failed_because(c, "program", "a copy has failed: %s", log_tail("program.log"));
			return;
		}
	}
	wall_ns = now_ns() - start;
	client_ns = client_cpu_ns() - cpu_start;
}

static void finish(struct context *c, uint64_t n, uint64_t *check)
{
	struct reply reply;
	if (!send_request(c, (struct request){.what = CHECK_FILES, .files = from_server ? 0 : n, .number = number}, "", &reply))
		return;
	*check += from_server ? check_files(n, number) : reply.bytes;
	add_work(n, wall_ns, client_ns, reply.cpu);
}

/* Copies plus bytes. */
static uint64_t expect(struct context *c, uint64_t n)
{
	(void)c;
	return n + n * size;
}

static void teardown(struct context *c)
{
	note_cpu_time(c);
	if (sshfs_pid > 0)
		kill(sshfs_pid, SIGKILL);
	/* before the server is killed */
	if (by == NFS)
		umount2("mounted", 0);
	stop_server(c);
}

const struct kernel kernel = {.name = "net/transfer",
			      .setup = setup,
			      .prepare = prepare,
			      .run = run,
			      .finish = finish,
			      .expect = expect,
			      .teardown = teardown,
			      .max_n = MAX_FILES,
			      .children = CHILDREN_ALONE};
