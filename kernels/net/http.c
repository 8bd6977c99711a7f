/* net/http: a web server of the machine that sends a file of size= bytes, asked over connections= connections at once.
 *
 * by= nginx, which keeps connections, or python, whose http.server closes each after its answer. Without rate= a connection asks again as soon as it is
 * answered; with it, requests are due at absolute times, whether or not those before are answered, and the time of one begins when it is due,
 * though all connections may be busy then. Each answer must be status 200 with as many bytes as announced, and these are compared with the file.
 */
#define _GNU_SOURCE
#include "programs.h"

enum { MOST_BYTES = 1 << 16, MOST_HEAD = 4096, MOST_CONNECTIONS = 64, PATIENT_MS = 1000 };
enum by { NGINX, PYTHON };
enum state { FREE, OPENING, ASKED };

/* A connection; what it was answered so far. */
struct connection {
	enum state state;
	int socket; /* -1: none */
	uint64_t due;
	size_t have;
	char text[MOST_HEAD + MOST_BYTES];
};

static enum by by;
static char request[256], file[MOST_BYTES];
static size_t size;
static int connections;
static uint64_t rate, near_ns, wall_ns, server_ns;
static in_port_t server_port;
static int control; /* asks the far end for the CPU time of the server */
static struct connection connection[MOST_CONNECTIONS];
static struct context *context_of_server;

/* One process, as its only worker would be: it ends with the far end. */
static void start_nginx(struct context *c, const char *port)
{
	const char *const argv[] = {far_program(c, "nginx", "/usr/sbin/nginx", "nginx-light"), "-p", directory, "-e", "server.log", "-c", "nginx.conf", NULL};
	if (!has_written("nginx.conf",
			 "daemon off;\nmaster_process off;\npid nginx.pid;\nerror_log server.log;\nevents {}\nhttp {\naccess_log off;\n"
			 "client_body_temp_path made;\nproxy_temp_path made;\nfastcgi_temp_path made;\nuwsgi_temp_path made;\nscgi_temp_path made;\n"
			 "keepalive_requests 1000000000;\nkeepalive_timeout 1h;\nserver { listen %s:%s; root served; }\n}\n",
			 far_before_port(), port))
		complain("it cannot write nginx.conf: %s", strerror(errno));
	server = start_tied(argv, "server.log");
}

/* The file is below a directory that has the token for a name. */
static void make_files(void)
{
	char path[128];
	enter_own_directory();
	snprintf(path, sizeof path, "served/%s", secret);
	int well = mkdir("made", 0700) == 0 && mkdir("served", 0700) == 0 && mkdir(path, 0700) == 0;
	snprintf(path, sizeof path, "served/%s/file", secret);
	int s = well ? open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600) : -1;
	if (s < 0 || write(s, file, size) != (ssize_t)size)
		complain("it cannot write the file: %s", strerror(errno));
	close(s);
}

/* Starts the server, and says at each question what CPU time it has taken. */
static void serve(void)
{
	char text[16], question;
	make_files();
	int listener = open_far(SOCK_STREAM);
	in_port_t port = free_port();
	snprintf(text, sizeof text, "%u", ntohs(port));
	if (by == NGINX)
		start_nginx(context_of_server, text);
	else
		start_python(context_of_server, text, "/dev/null"); /* it says a line for each request */
	await_server(port);
	say_port(port);
	int s = take_connection(listener);
	close(listener);
	for (;;) {
		if (!reads_all(s, &question, 1)) {
			if (errno == EAGAIN)
				continue; /* between samples nothing is asked */
			complain("the near end has gone");
		}
		uint64_t ns = cpu_ns_of(server);
		if (!writes_all(s, &ns, sizeof ns))
			complain("it cannot answer: %s", strerror(errno));
	}
}

static int ask_cpu(struct context *c, uint64_t *ns)
{
	if (writes_all(control, "?", 1) && reads_all(control, ns, sizeof *ns))
		return 1;
	lost(c, "control");
	return 0;
}

/* What is asked for, and what comes of it. */
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
	const char *name = parameter(c, "by", "nginx"), *way = parameter(c, "over", "");
	in_port_t port;
	by = strcmp(name, "python") == 0 ? PYTHON : NGINX;
	size = parameter_u64(c, "size", 1024);
	rate = parameter_u64(c, "rate", 0);
	connections = (int)parameter_u64(c, "connections", 8);
	if ((by == NGINX && strcmp(name, "nginx") != 0) || size < 1 || size > MOST_BYTES || connections < 1 || connections > MOST_CONNECTIONS ||
	    rate > 1000000 || (strcmp(way, "veth") != 0 && strcmp(way, "peer") != 0))
		wrong_arguments(c, "by= is nginx or python, over= veth or peer, size= from 1 to %d, connections= to %d, rate= to 1000000", MOST_BYTES, MOST_CONNECTIONS);
	if (by == NGINX && strcmp(way, "veth") == 0 && geteuid() != 0) {
		skip(c, "nginx takes root here: in a user namespace it finds no group that its files are of");
		return;
	}
	context_of_server = c;
	for (int i = 0; i < connections; i++)
		connection[i].socket = -1;
	if (!make_token(c))
		return;
	make_request(c);
	if (!start_far_end(c, serve) || !far_port(c, &port) || !far_port(c, &server_port) ||
	    (control = connect_far(c, port)) < 0 || !ask_cpu(c, &server_ns))
		return;
	if (rate > 0)
		prctl(PR_SET_TIMERSLACK, 1);
}

static void close_connection(struct connection *of)
{
	if (of->socket >= 0)
		close(of->socket);
	of->socket = -1;
}

/* Opens the connection unless it is, and asks; 0 after a failure. */
static int ask(struct context *c, struct connection *of, uint64_t due)
{
	struct sockaddr_storage address;
	socklen_t length = address_of(1, server_port, &address);
	of->due = due;
	of->have = 0;
	of->state = OPENING;
	if (of->socket < 0) {
		of->socket = new_socket(SOCK_STREAM | SOCK_NONBLOCK);
		if (of->socket < 0 || !without_delay(of->socket, 1) ||
		    (connect(of->socket, (struct sockaddr *)&address, length) != 0 && errno != EINPROGRESS)) {
			lost(c, "connect");
			return 0;
		}
		return 1; /* it asks when it is open */
	}
	of->state = ASKED;
	if (writes_all(of->socket, request, strlen(request)))
		return 1;
	lost(c, "request");
	return 0;
}

/* The number after a name in the head of an answer; -1 without one. */
static long header(const char *head, const char *name)
{
	const char *at = strcasestr(head, name);
	return at != NULL ? strtol(at + strlen(name), NULL, 10) : -1;
}

/* Whether an answer is whole: 1, 0 where more is to come, -1 after a failure. */
static int is_whole(struct context *c, struct connection *of)
{
	char *text = of->text, *end = memmem(text, of->have, "\r\n\r\n", 4);
	if (end == NULL && of->have < MOST_HEAD)
		return 0;
	if (end == NULL || strncmp(text, "HTTP/1.", 7) != 0 || strncmp(text + 8, " 200 ", 5) != 0) {
		failed_because(c, "answer", "it is not 200: %.40s", text);
		return -1;
	}
	size_t head = (size_t)(end - text) + 4, body = of->have - head;
	char first = end[2];
	end[2] = '\0';
	long announced = header(text, "\r\nContent-Length:");
	end[2] = first;
	if (announced != (long)size || body > size) {
		failed_because(c, "answer", "%ld bytes are announced, and %zu have come, of %zu", announced, body, size);
		return -1;
	}
	if (body < size)
		return 0;
	if (memcmp(text + head, file, size) == 0)
		return 1;
	failed_because(c, "answer", "its bytes are not those of the file");
	return -1;
}

/* Takes what has come; 1 where that is the end of an answer, -1 after a failure. */
static int take(struct context *c, struct connection *of, short events)
{
	if (of->state == OPENING) {
		int error = 0;
		socklen_t length = sizeof error;
		getsockopt(of->socket, SOL_SOCKET, SO_ERROR, &error, &length);
		errno = error;
		if (error != 0 || (events & POLLOUT) == 0 || !writes_all(of->socket, request, strlen(request))) {
			lost(c, "connect");
			return -1;
		}
		of->state = ASKED;
		return 0;
	}
	ssize_t n = recv(of->socket, of->text + of->have, sizeof of->text - 1 - of->have, MSG_DONTWAIT);
	if (n < 0 && errno == EAGAIN)
		return 0;
	if (n <= 0) {
		failed_because(c, "answer", "a connection ended after %zu bytes of an answer", of->have);
		return -1;
	}
	of->have += (size_t)n;
	of->text[of->have] = '\0';
	int whole = is_whole(c, of);
	if (whole <= 0)
		return whole;
	if (rate > 0)
		record(c, of->due, now_ns());
	if (by == PYTHON)
		close_connection(of);
	of->state = FREE;
	return 1;
}

/* Waits until something comes, or until a time; how many answers have come, or -1 after a failure. */
static int take_answers(struct context *c, uint64_t until)
{
	struct pollfd comes[MOST_CONNECTIONS];
	struct connection *of[MOST_CONNECTIONS];
	int busy = 0, answers = 0;
	for (int i = 0; i < connections; i++) {
		if (connection[i].state == FREE)
			continue;
		of[busy] = &connection[i];
		comes[busy++] = (struct pollfd){.fd = connection[i].socket, .events = connection[i].state == OPENING ? POLLOUT : POLLIN};
	}
	uint64_t now = now_ns(), ns = until > now ? until - now : 0;
	const struct timespec span = {(time_t)(ns / 1000000000), (long)(ns % 1000000000)};
	if (ppoll(comes, (nfds_t)busy, &span, NULL) <= 0)
		return 0;
	for (int i = 0; i < busy; i++) {
		int taken = comes[i].revents != 0 ? take(c, of[i], comes[i].revents) : 0;
		if (taken < 0)
			return -1;
		answers += taken;
	}
	return answers;
}

static struct connection *free_connection(void)
{
	for (int i = 0; i < connections; i++)
		if (connection[i].state == FREE)
			return &connection[i];
	return NULL;
}

static void run(struct context *c, uint64_t n, uint64_t *check)
{
	uint64_t cpu = cpu_ns(), begun = now_ns(), asked = 0, last = begun;
	while (*check < n) {
		struct connection *of = NULL;
		uint64_t now = now_ns(), due = now;
		while (asked < n && (of = free_connection()) != NULL && (due = rate > 0 ? begun + asked * 1000000000u / rate : now) <= now) {
			if (!ask(c, of, due))
				return;
			asked++;
		}
		int answers = take_answers(c, of != NULL && asked < n ? due : now + PATIENT_MS * UINT64_C(1000000));
		if (answers < 0)
			return;
		now = now_ns();
		last = answers > 0 || *check == asked ? now : last;
		*check += (uint64_t)answers;
		if (now - last > PATIENCE_S * UINT64_C(1000000000)) {
			failed_because(c, "answer", "nothing was answered for %d s", PATIENCE_S);
			return;
		}
	}
	wall_ns = now_ns() - begun;
	near_ns = cpu_ns() - cpu;
}

static void finish(struct context *c, uint64_t n, uint64_t *check)
{
	uint64_t ns;
	char more;
	(void)check;
	for (int i = 0; i < connections; i++)
		if (connection[i].socket >= 0 && recv(connection[i].socket, &more, 1, MSG_DONTWAIT) > 0)
			failed_because(c, "answer", "a request was answered twice");
	if (!ask_cpu(c, &ns))
		return;
	add_work(n, wall_ns, near_ns, ns - server_ns);
	server_ns = ns;
}

/* Each request, answered once. */
static uint64_t expect(struct context *c, uint64_t n)
{
	(void)c;
	return n;
}

static void teardown(struct context *c)
{
	tell_work(c);
	for (int i = 0; i < connections; i++)
		close_connection(&connection[i]);
	stop_far_end(c);
}

const struct kernel kernel = {
	.name = "net/http", .setup = setup, .run = run, .finish = finish, .expect = expect, .teardown = teardown};
