/* People at terminals, who type so many letters a second and think between commands: how many of them the machine carries.
 *
 * Their number is doubled until more than 5 % of the responses take a second or longer. A response lasts from the time at which the last key
 * of a command was due, typed or not, to the time at which the screen shows that the command is done: what keeps us from typing in
 * time is in it.
 */
#ifndef GRITSTONE_MULTIUSER_TYPING_H
#define GRITSTONE_MULTIUSER_TYPING_H

#include "limits.h"

/* Of fewer responses than ENOUGH a single one is more than 5 %. */
enum { MOST_RESPONSES = 1 << 16, SECOND = 1000000000, ENOUGH = 20, MOST_WINDOWS = 5 };

struct seen {
	uint64_t count, late;
	struct {
		uint64_t from, to;
	} of[MOST_RESPONSES];
};

static struct seen now_seen, carried_seen;
static int watching;
static uint64_t key_ns, think_ns, window_ns, first_level, most_users, carried, given_up;
static const char *no_more; /* why there was no room for twice as many */

static inline uint64_t chance(uint64_t below)
{
	static uint64_t x = 88172645463325252u; /* xorshift */
	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	return x % below;
}

static inline void read_pace(struct context *c)
{
	uint64_t letters = parameter_u64(c, "letters_a_second", 3), think = parameter_u64(c, "think_ms", 5000);
	uint64_t window = parameter_u64(c, "window_ms", 6000);
	first_level = parameter_u64(c, "users", 16);
	most_users = parameter_u64(c, "most_users", 4096);
	if (letters == 0 || letters > 1000 || think > 60000 || window == 0 || window > 30000 || first_level == 0 || first_level > most_users)
		wrong_arguments(c, "letters_a_second= is from 1 to 1000, think_ms= up to 60000, window_ms= from 1 to 30000, users= from 1 to most_users=");
	key_ns = SECOND / letters;
	think_ns = think * 1000000;
	window_ns = window * 1000000;
}

/* What a user waited for, or still waits for at the end, in so long. */
static inline void see(struct context *c, const struct user *u, uint64_t now)
{
	const char *kind = u->step < 0 ? NULL : script.step[u->step].what;
	if (kind == NULL || !watching || now_seen.count == MOST_RESPONSES)
		return;
	now_seen.of[now_seen.count].from = u->sent;
	now_seen.of[now_seen.count++].to = now;
	now_seen.late += now - u->sent >= SECOND;
	respond(c, (uint64_t)people, kind, u->sent, now);
}

/* A user has seen that the last command is done. */
static inline void answer(struct context *c, struct user *u, uint64_t now)
{
	see(c, u, now);
	int logs_in = u->step < 0;
	next_step(c, u);
	u->awaits = 0;
	u->due = now + think_ns + key_ns;
	if (logs_in && people > 0) {
		/* somewhere in thinking and typing, so that the new ones load the machine as the others do: what is typed by now is typed at once */
		uint64_t typing = strlen(script.step[u->step].keys) * key_ns;
		u->due = now + chance(think_ns + typing) - typing;
	}
}

/* Types the keys that are due; the time until the next one is. */
static inline uint64_t type_what_is_due(struct context *c)
{
	uint64_t now = now_ns(), next = SECOND;
	for (int i = 0; i < people; i++) {
		struct user *u = &user[i];
		const char *keys = u->step < 0 ? "" : script.step[u->step].keys;
		while (people > 0 && !u->awaits && u->due <= now) {
			if (!type(c, u, keys + u->key, 1))
				return 0;
			u->sent = u->due;
			u->due += key_ns;
			u->awaits = keys[++u->key] == '\0';
		}
		if (!u->awaits && u->due - now < next)
			next = u->due - now;
	}
	return next;
}

/* Everybody types and thinks until then. */
static inline void type_until(struct context *c, uint64_t end)
{
	struct epoll_event events[64];
	while (people > 0 && now_ns() < end) {
		uint64_t wait = type_what_is_due(c);
		int n = epoll_wait(gate, events, 64, (int)((wait + 999999) / 1000000));
		for (int i = 0; i < n && people > 0; i++) {
			struct user *u = events[i].data.ptr;
			if (look(u) != 0)
				lost(c, u, "the shell has ended");
			if (people > 0 && u->awaits && is_ready(c, u) && people > 0)
				answer(c, u, now_ns());
		}
		look_for_the_lost(c);
	}
}

/* So many people, of whom the new ones begin with any command that needs nothing of those before it. */
static inline void be_so_many(struct context *c, int wanted)
{
	for (int there = 1; there && people < wanted;) {
		struct user *u = &user[people];
		*u = (struct user){.number = ++people, .awaits = 1};
		do
			u->start = (int)chance((uint64_t)script.steps);
		while (script.step[u->start].needs_earlier);
		there = log_in(c, u);
		if (!there)
			log_everybody_out();
	}
}

/* What they see within a window, or some where few of them press a last key in one. Who still waits at its end has waited as long as that. */
static inline void watch(struct context *c)
{
	now_seen.count = now_seen.late = 0;
	watching = 1;
	for (int i = 0; i < MOST_WINDOWS && people > 0 && now_seen.count < ENOUGH; i++)
		type_until(c, now_ns() + window_ns);
	uint64_t end = now_ns();
	for (int i = 0; i < people; i++)
		if (user[i].awaits && end - user[i].sent >= SECOND)
			see(c, &user[i], end);
	watching = 0;
}

/* Doubles their number until they wait; what those saw who did not is kept. */
static inline void find_most(struct context *c)
{
	uint64_t begun = now_ns(), longest = 45 * (uint64_t)SECOND;
	carried = given_up = 0;
	for (uint64_t level = first_level; level <= most_users; level *= 2) {
		no_more = no_room_for(level);
		if (no_more != NULL)
			break;
		be_so_many(c, (int)level);
		type_until(c, now_ns() + think_ns / 2);
		watch(c);
		if (people == 0)
			return;
		if (now_seen.late * 20 > now_seen.count) {
			given_up = level;
			break;
		}
		if (now_seen.count < ENOUGH) {
			failed_because(c, "users", "%llu users had only %llu responses: give more with --param users=, or --param window_ms=",
				       (unsigned long long)level, (unsigned long long)now_seen.count);
			return;
		}
		carried = level;
		carried_seen = now_seen;
		if (now_ns() - begun > longest)
			break;
	}
	if (people > 0 && carried == 0)
		failed_because(c, "users", "%llu users already wait a second or longer for more than 5 %% of the responses: give fewer with --param users=",
			       (unsigned long long)first_level);
	for (uint64_t i = 0; i < carried_seen.count; i++)
		record(c, carried_seen.of[i].from, carried_seen.of[i].to);
}

#endif
