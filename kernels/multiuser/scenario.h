/* A scenario of scripted users as a kernel: they log in together, and each does a whole round before the first sample begins; in a
 * sample all of them work until so many transactions are done in all. Where TYPING is 1 they are people, and their number is
 * what is found.
 *
 * A family of users says what they do in make_script(). Parameters: users=, per_op= (transactions of an operation, as the entry's
 * amount_per_op), and those of typing.h.
 */
#ifndef GRITSTONE_MULTIUSER_SCENARIO_H
#define GRITSTONE_MULTIUSER_SCENARIO_H

#include "typing.h"

static void make_script(struct context *c);

static uint64_t per_op, before, begun_ns, memory_before_kb;

static inline void setup(struct context *c)
{
	uint64_t users = parameter_u64(c, "users", 1), most = users;
	per_op = parameter_u64(c, "per_op", 1);
	if (users == 0 || users > 100000 || per_op == 0)
		wrong_arguments(c, "users= is from 1 to 100000, and per_op= at least 1");
	if (TYPING) {
		read_pace(c);
		most = most_users;
	}
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	make_script(c);
	const char *why = no_room_for(users);
	if (why != NULL)
		skip(c, "%s", why);
	user = calloc(most, sizeof *user);
	gate = epoll_create1(EPOLL_CLOEXEC);
	if (user == NULL || gate < 0)
		failed(c, "calloc");
	if (why != NULL || user == NULL || gate < 0)
		return;
	memory_before_kb = free_memory_kb();
	begun_ns = now_ns();
	for (int there = !TYPING; there && people < (int)users;) {
		user[people].number = people + 1;
		there = log_in(c, &user[people++]);
		if (!there)
			log_everybody_out();
	}
	if (!TYPING && script.is_done != NULL)
		work_until(c, 0, 1);
}

static inline void run(struct context *c, uint64_t n, uint64_t *check)
{
	if (TYPING) {
		find_most(c);
		*check = n * per_op;
		return;
	}
	before = 0;
	for (int i = 0; i < people; i++)
		before += user[i].transactions;
	transactions = before;
	work_until(c, before + n * per_op, 0);
	for (int i = 0; i < people; i++)
		*check += user[i].transactions;
	*check -= before;
}

static inline uint64_t expect(struct context *c, uint64_t n)
{
	(void)c;
	return n * per_op;
}

/* What the terminals cost to read, in classes, so that launches say the same: it is part of what the machine does. */
static inline void tell_the_cost(struct context *c)
{
	static const int classes[] = {1, 2, 5, 10, 20, 50, 100};
	struct rusage r;
	int i = 0;
	getrusage(RUSAGE_SELF, &r);
	double own = (double)(r.ru_utime.tv_sec + r.ru_stime.tv_sec) + (double)(r.ru_utime.tv_usec + r.ru_stime.tv_usec) / 1e6;
	double share = 100 * own / ((double)(now_ns() - begun_ns) / 1e9);
	while (share > classes[i] && i < 6)
		i++;
	note(c, "reader_percent", "%.2f", share);
	note(c, "remark", "Typing and reading at all terminals took less than %d %% of one CPU.", classes[i]);
}

static inline void teardown(struct context *c)
{
	uint64_t left_kb = free_memory_kb();
	if (people > 0)
		note(c, "memory_per_user_kb", "%lld", ((long long)memory_before_kb - (long long)left_kb) / people);
	if (TYPING)
		note(c, "users_carried", "%llu", (unsigned long long)carried);
	if (TYPING && given_up > 0)
		note(c, "users_too_many", "%llu", (unsigned long long)given_up);
	else if (TYPING && no_more != NULL)
		note(c, "remark", "%s", no_more);
	tell_the_cost(c);
	log_everybody_out();
}

#endif
