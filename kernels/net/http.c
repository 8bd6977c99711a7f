/* net/http: requests per second of an installed web server for a file of size= bytes, over connections= concurrent connections.
 *
 * by= nginx, with keep-alive, or python, whose http.server closes each connection after its reply. Without rate= the load is closed: a
 * connection sends its next request upon the reply. With rate= it is open: requests are due at fixed times, and response time counts from
 * the due time, even if all connections are busy then. Each reply must have status 200 and the announced length, and the body must equal
 * the file.
 */
#define _GNU_SOURCE
#include "programs.h"

enum { MAX_BYTES = 1 << 16, MAX_HEAD = 4096, MAX_CONNECTIONS = 64, MAX_POLL_MS = 1000 };
enum by { NGINX, PYTHON };
enum state { IDLE, CONNECTING, REQUESTED };

/* A connection with the received part of its reply. */
struct connection {
	enum state state;
	int socket; /* -1: none */
	uint64_t due;
	size_t received;
	char text[MAX_HEAD + MAX_BYTES];
};

static enum by by;
static char request[256], file[MAX_BYTES];
static size_t size;
static int connections;
static uint64_t rate, client_ns, wall_ns, daemon_ns;
static in_port_t daemon_port;
static int control; /* queries the CPU time of the web server */
static struct connection connection[MAX_CONNECTIONS];
static struct context *daemon_context;

/* A single process, without master: it dies with the server process. */
static void start_nginx(struct context *c, const char *port)
{
	const char *const argv[] = {server_program(c, "nginx", "/usr/sbin/nginx", "nginx-light"), "-p", directory, "-e", "server.log", "-c", "nginx.conf", NULL};
	if (!write_text_file("nginx.conf",
			 "daemon off;\nmaster_process off;\npid nginx.pid;\nerror_log server.log;\nevents {}\nhttp {\naccess_log off;\n"
			 "client_body_temp_path made;\nproxy_temp_path made;\nfastcgi_temp_path made;\nuwsgi_temp_path made;\nscgi_temp_path made;\n"
			 "keepalive_requests 1000000000;\nkeepalive_timeout 1h;\nserver { listen %s:%s; root served; }\n}\n",
			 server_host_for_url(), port))
		server_fail("cannot write nginx.conf: %s", strerror(errno));
	daemon_pid = start_background(argv, "server.log");
}

/* The file's directory is named by the token. */
static void make_files(void)
{
	char path[128];
	enter_server_directory();
	snprintf(path, sizeof path, "served/%s", secret);
	int ok = mkdir("made", 0700) == 0 && mkdir("served", 0700) == 0 && mkdir(path, 0700) == 0;
	snprintf(path, sizeof path, "served/%s/file", secret);
	int s = ok ? open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600) : -1;
	if (s < 0 || write(s, file, size) != (ssize_t)size)
		server_fail("cannot write the file: %s", strerror(errno));
	close(s);
}

/* Starts the web server; then replies to each query with its CPU time. */
static void serve(void)
{
	char text[16], query;
	make_files();
	int listener = open_server_socket(SOCK_STREAM);
	in_port_t port = free_port();
	snprintf(text, sizeof text, "%u", ntohs(port));
	if (by == NGINX)
		start_nginx(daemon_context, text);
	else
		start_python(daemon_context, text, "/dev/null"); /* it logs each request */
	await_daemon(port);
	announce_port(port);
	int s = accept_connection(listener);
	close(listener);
	for (;;) {
		if (!recv_all(s, &query, 1)) {
			if (errno == EAGAIN)
				continue; /* idle between samples */
			server_fail("the client has closed its connection");
		}
		uint64_t ns = cpu_ns_of(daemon_pid);
		if (!send_all(s, &ns, sizeof ns))
			server_fail("cannot send a reply: %s", strerror(errno));
	}
}

static int query_cpu_time(struct context *c, uint64_t *ns)
{
	if (send_all(control, "?", 1) && recv_all(control, ns, sizeof *ns))
		return 1;
	call_failed(c, "control");
	return 0;
}

static void make_request(struct context *c)
{
	uint64_t word = 19840801;
	for (size_t i = 0; i < size; i++, word = word * 6364136223846793005u + 1442695040888963407u)
		file[i] = (char)(word >> 56);
	hex_token();
	snprintf(request, sizeof request, "GET /%s/file HTTP/1.%d\r\nHost: %s\r\n\r\n", secret, by == NGINX, parameter(c, "address", hosts[1]));
}

static void setup(struct context *c)
{
	const char *name = parameter(c, "by", "nginx"), *network_name = parameter(c, "over", "");
	in_port_t port;
	by = strcmp(name, "python") == 0 ? PYTHON : NGINX;
	size = parameter_u64(c, "size", 1024);
	rate = parameter_u64(c, "rate", 0);
	connections = (int)parameter_u64(c, "connections", 8);
	if ((by == NGINX && strcmp(name, "nginx") != 0) || size < 1 || size > MAX_BYTES || connections < 1 || connections > MAX_CONNECTIONS ||
	    rate > 1000000 || (strcmp(network_name, "veth") != 0 && strcmp(network_name, "peer") != 0))
		wrong_arguments(c, "by= is nginx or python, over= veth or peer, size= from 1 to %d, connections= to %d, rate= to 1000000", MAX_BYTES, MAX_CONNECTIONS);
	if (by == NGINX && strcmp(network_name, "veth") == 0 && geteuid() != 0) {
		skip(c, "nginx takes root here: in a user namespace it has no group for its files");
		return;
	}
	daemon_context = c;
	for (int i = 0; i < connections; i++)
		connection[i].socket = -1;
	if (!make_token(c))
		return;
	make_request(c);
	if (!start_server(c, serve) || !await_port(c, &port) || !await_port(c, &daemon_port) ||
	    (control = connect_server(c, port)) < 0 || !query_cpu_time(c, &daemon_ns))
		return;
	if (rate > 0)
		prctl(PR_SET_TIMERSLACK, 1);
}

static void close_connection(struct connection *conn)
{
	if (conn->socket >= 0)
		close(conn->socket);
	conn->socket = -1;
}

/* Connects if necessary. Returns 0 on failure. */
static int send_request(struct context *c, struct connection *conn, uint64_t due)
{
	struct sockaddr_storage address;
	socklen_t length = address_of(1, daemon_port, &address);
	conn->due = due;
	conn->received = 0;
	conn->state = CONNECTING;
	if (conn->socket < 0) {
		conn->socket = new_socket(SOCK_STREAM | SOCK_NONBLOCK);
		if (conn->socket < 0 || !set_nodelay(conn->socket, 1) ||
		    (connect(conn->socket, (struct sockaddr *)&address, length) != 0 && errno != EINPROGRESS)) {
			call_failed(c, "connect");
			return 0;
		}
		return 1; /* sends when connected */
	}
	conn->state = REQUESTED;
	if (send_all(conn->socket, request, strlen(request)))
		return 1;
	call_failed(c, "request");
	return 0;
}

/* Numeric value of a header; -1 if absent. */
static long header_value(const char *head, const char *name)
{
	const char *value = strcasestr(head, name);
	return value != NULL ? strtol(value + strlen(name), NULL, 10) : -1;
}

/* Returns 1 for a complete reply, 0 for a partial one, -1 on failure. */
static int parse_reply(struct context *c, struct connection *conn)
{
	char *text = conn->text, *end = memmem(text, conn->received, "\r\n\r\n", 4);
	if (end == NULL && conn->received < MAX_HEAD)
		return 0;
	if (end == NULL || strncmp(text, "HTTP/1.", 7) != 0 || strncmp(text + 8, " 200 ", 5) != 0) {
		failed_because(c, "answer", "status is not 200: %.40s", text);
		return -1;
	}
	size_t head = (size_t)(end - text) + 4, body = conn->received - head;
	char first = end[2];
	end[2] = '\0';
	long content_length = header_value(text, "\r\nContent-Length:");
	end[2] = first;
	if (content_length != (long)size || body > size) {
		failed_because(c, "answer", "Content-Length is %ld, received %zu bytes, expected %zu", content_length, body, size);
		return -1;
	}
	if (body < size)
		return 0;
	if (memcmp(text + head, file, size) == 0)
		return 1;
	failed_because(c, "answer", "the body differs from the file");
	return -1;
}

/* Returns 1 at the end of a reply, -1 on failure. */
static int read_reply(struct context *c, struct connection *conn, short events)
{
	if (conn->state == CONNECTING) {
		int error = 0;
		socklen_t length = sizeof error;
		getsockopt(conn->socket, SOL_SOCKET, SO_ERROR, &error, &length);
		errno = error;
		if (error != 0 || (events & POLLOUT) == 0 || !send_all(conn->socket, request, strlen(request))) {
			call_failed(c, "connect");
			return -1;
		}
		conn->state = REQUESTED;
		return 0;
	}
	ssize_t n = recv(conn->socket, conn->text + conn->received, sizeof conn->text - 1 - conn->received, MSG_DONTWAIT);
	if (n < 0 && errno == EAGAIN)
		return 0;
	if (n <= 0) {
		failed_because(c, "answer", "a connection was closed after %zu bytes of a reply", conn->received);
		return -1;
	}
	conn->received += (size_t)n;
	conn->text[conn->received] = '\0';
	int whole = parse_reply(c, conn);
	if (whole <= 0)
		return whole;
	if (rate > 0)
		record(c, conn->due, now_ns());
	if (by == PYTHON)
		close_connection(conn);
	conn->state = IDLE;
	return 1;
}

/* Waits for replies until a time at most. Returns the number of complete replies, -1 on failure. */
static int poll_replies(struct context *c, uint64_t until)
{
	struct pollfd polled[MAX_CONNECTIONS];
	struct connection *conn[MAX_CONNECTIONS];
	int busy = 0, replies = 0;
	for (int i = 0; i < connections; i++) {
		if (connection[i].state == IDLE)
			continue;
		conn[busy] = &connection[i];
		polled[busy++] = (struct pollfd){.fd = connection[i].socket, .events = connection[i].state == CONNECTING ? POLLOUT : POLLIN};
	}
	uint64_t now = now_ns(), ns = until > now ? until - now : 0;
	const struct timespec span = {(time_t)(ns / 1000000000), (long)(ns % 1000000000)};
	if (ppoll(polled, (nfds_t)busy, &span, NULL) <= 0)
		return 0;
	for (int i = 0; i < busy; i++) {
		int taken = polled[i].revents != 0 ? read_reply(c, conn[i], polled[i].revents) : 0;
		if (taken < 0)
			return -1;
		replies += taken;
	}
	return replies;
}

static struct connection *idle_connection(void)
{
	for (int i = 0; i < connections; i++)
		if (connection[i].state == IDLE)
			return &connection[i];
	return NULL;
}

static void run(struct context *c, uint64_t n, uint64_t *check)
{
	uint64_t cpu = cpu_ns(), start = now_ns(), requests = 0, last = start;
	while (*check < n) {
		struct connection *conn = NULL;
		uint64_t now = now_ns(), due = now;
		while (requests < n && (conn = idle_connection()) != NULL && (due = rate > 0 ? start + requests * 1000000000u / rate : now) <= now) {
			if (!send_request(c, conn, due))
				return;
			requests++;
		}
		int replies = poll_replies(c, conn != NULL && requests < n ? due : now + MAX_POLL_MS * UINT64_C(1000000));
		if (replies < 0)
			return;
		now = now_ns();
		last = replies > 0 || *check == requests ? now : last;
		*check += (uint64_t)replies;
		if (now - last > TIMEOUT_S * UINT64_C(1000000000)) {
			failed_because(c, "answer", "no reply for %d s", TIMEOUT_S);
			return;
		}
	}
	wall_ns = now_ns() - start;
	client_ns = cpu_ns() - cpu;
}

static void finish(struct context *c, uint64_t n, uint64_t *check)
{
	uint64_t ns;
	char more;
	(void)check;
	for (int i = 0; i < connections; i++)
		if (connection[i].socket >= 0 && recv(connection[i].socket, &more, 1, MSG_DONTWAIT) > 0)
			failed_because(c, "answer", "a request got two replies");
	if (!query_cpu_time(c, &ns))
		return;
	add_work(n, wall_ns, client_ns, ns - daemon_ns);
	daemon_ns = ns;
}

static uint64_t expect(struct context *c, uint64_t n)
{
	(void)c;
	return n;
}

static void teardown(struct context *c)
{
	note_cpu_time(c);
	for (int i = 0; i < connections; i++)
		close_connection(&connection[i]);
	stop_server(c);
}

const struct kernel kernel = {
	.name = "net/http", .setup = setup, .run = run, .finish = finish, .expect = expect, .teardown = teardown};
