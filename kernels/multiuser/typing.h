/* Capacity in users with typing speed and think time.
 *
 * The number of users doubles until more than 5 % of the responses take 1 s or longer. Response time counts from the due time of a
 * command's last key, typed or not, until the screen shows the completed command, so that delays of the typing process are included.
 */
#ifndef GRITSTONE_MULTIUSER_TYPING_H
#define GRITSTONE_MULTIUSER_TYPING_H

#include "limits.h"

/* Below MIN_RESPONSES a single response exceeds 5 %. */
enum { MAX_RESPONSES = 1 << 16, SECOND = 1000000000, MIN_RESPONSES = 20, MAX_WINDOWS = 5 };

struct observations {
	uint64_t count, late;
	struct {
		uint64_t from, to;
	} response[MAX_RESPONSES];
};

static struct observations window, carried_responses;
static int recording;
static uint64_t key_ns, think_ns, window_ns, first_users, most_users, carried, overloaded;
static const char *resource_limit; /* the resource that prevented doubling */

static inline uint64_t random_below(uint64_t below)
{
	static uint64_t x = 88172645463325252u; /* xorshift */
	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	return x % below;
}

static inline void parse_typing(struct context *c)
{
	uint64_t letters = parameter_u64(c, "letters_a_second", 3), think = parameter_u64(c, "think_ms", 5000);
	uint64_t window_ms = parameter_u64(c, "window_ms", 6000);
	first_users = parameter_u64(c, "users", 16);
	most_users = parameter_u64(c, "most_users", 4096);
	if (letters == 0 || letters > 1000 || think > 60000 || window_ms == 0 || window_ms > 30000 || first_users == 0 || first_users > most_users)
		wrong_arguments(c, "letters_a_second= is from 1 to 1000, think_ms= up to 60000, window_ms= from 1 to 30000, users= from 1 to most_users=");
	key_ns = SECOND / letters;
	think_ns = think * 1000000;
	window_ns = window_ms * 1000000;
}

static inline void record_response(struct context *c, const struct user *u, uint64_t now)
{
	const char *kind = u->step < 0 ? NULL : script.step[u->step].what;
	if (kind == NULL || !recording || window.count == MAX_RESPONSES)
		return;
	window.response[window.count].from = u->sent;
	window.response[window.count++].to = now;
	window.late += now - u->sent >= SECOND;
	respond(c, (uint64_t)logged_in, kind, u->sent, now);
}

static inline void complete_command(struct context *c, struct user *u, uint64_t now)
{
	record_response(c, u, now);
	int logs_in = u->step < 0;
	next_step(c, u);
	u->awaits_response = 0;
	u->due = now + think_ns + key_ns;
	if (logs_in && logged_in > 0) {
		/* random phase of thinking and typing, so that new users load the machine as the others do; keys already due are typed at once */
		uint64_t typing = strlen(script.step[u->step].keys) * key_ns;
		u->due = now + random_below(think_ns + typing) - typing;
	}
}

/* Returns the time until the next key is due. */
static inline uint64_t type_due_keys(struct context *c)
{
	uint64_t now = now_ns(), next = SECOND;
	for (int i = 0; i < logged_in; i++) {
		struct user *u = &user[i];
		const char *keys = u->step < 0 ? "" : script.step[u->step].keys;
		while (logged_in > 0 && !u->awaits_response && u->due <= now) {
			if (!type_keys(c, u, keys + u->key, 1))
				return 0;
			u->sent = u->due;
			u->due += key_ns;
			u->awaits_response = keys[++u->key] == '\0';
		}
		if (!u->awaits_response && u->due - now < next)
			next = u->due - now;
	}
	return next;
}

static inline void type_until(struct context *c, uint64_t end)
{
	struct epoll_event events[64];
	while (logged_in > 0 && now_ns() < end) {
		uint64_t wait = type_due_keys(c);
		int n = epoll_wait(epoll_fd, events, 64, (int)((wait + 999999) / 1000000));
		for (int i = 0; i < n && logged_in > 0; i++) {
			struct user *u = events[i].data.ptr;
			if (read_terminal(u) != 0)
				fail_user(c, u, "the shell has exited");
			if (logged_in > 0 && u->awaits_response && is_ready(c, u) && logged_in > 0)
				complete_command(c, u, now_ns());
		}
		check_timeouts(c);
	}
}

/* New users start with a random step that does not depend on earlier ones. */
static inline void log_in_up_to(struct context *c, int target)
{
	for (int ok = 1; ok && logged_in < target;) {
		struct user *u = &user[logged_in];
		*u = (struct user){.number = ++logged_in, .awaits_response = 1};
		do
			u->start = (int)random_below((uint64_t)script.steps);
		while (script.step[u->start].depends_on_earlier);
		ok = log_in(c, u);
		if (!ok)
			log_out_all();
	}
}

/* Records responses for one window, or several if there are few. Responses still outstanding at the end count with their age. */
static inline void measure_window(struct context *c)
{
	window.count = window.late = 0;
	recording = 1;
	for (int i = 0; i < MAX_WINDOWS && logged_in > 0 && window.count < MIN_RESPONSES; i++)
		type_until(c, now_ns() + window_ns);
	uint64_t end = now_ns();
	for (int i = 0; i < logged_in; i++)
		if (user[i].awaits_response && end - user[i].sent >= SECOND)
			record_response(c, &user[i], end);
	recording = 0;
}

/* Doubles the number of users until responses are late; records the response times of the last acceptable number. */
static inline void find_capacity(struct context *c)
{
	uint64_t start_ns = now_ns(), budget_ns = 45 * (uint64_t)SECOND;
	carried = overloaded = 0;
	for (uint64_t level = first_users; level <= most_users; level *= 2) {
		resource_limit = missing_resource(level);
		if (resource_limit != NULL)
			break;
		log_in_up_to(c, (int)level);
		type_until(c, now_ns() + think_ns / 2);
		measure_window(c);
		if (logged_in == 0)
			return;
		if (window.late * 20 > window.count) {
			overloaded = level;
			break;
		}
		if (window.count < MIN_RESPONSES) {
			failed_because(c, "users", "%llu users had only %llu responses: use more with --param users=, or --param window_ms=",
				       (unsigned long long)level, (unsigned long long)window.count);
			return;
		}
		carried = level;
		carried_responses = window;
		if (now_ns() - start_ns > budget_ns)
			break;
	}
	if (logged_in > 0 && carried == 0)
		failed_because(c, "users", "%llu users already have more than 5 %% of the responses at 1 s or longer: use fewer with --param users=",
			       (unsigned long long)first_users);
	for (uint64_t i = 0; i < carried_responses.count; i++)
		record(c, carried_responses.response[i].from, carried_responses.response[i].to);
}

#endif
