/* A scenario of scripted users as a workload: all log in at the beginning, and each completes a round before the first sample; a sample
 * lasts until a total number of transactions. With TYPING 1 they have typing speed and think time, and the result is the number of users.
 *
 * The including file defines make_script(). Parameters: users=, per_op= (transactions per operation, as amount_per_op in the catalog
 * entry), and those of typing.h.
 */
#ifndef GRITSTONE_MULTIUSER_SCENARIO_H
#define GRITSTONE_MULTIUSER_SCENARIO_H

#include "typing.h"

static void make_script(struct context *c);

static uint64_t per_op, before, start_ns, memory_before_kb;

static inline void setup(struct context *c)
{
	uint64_t users = parameter_u64(c, "users", 1), max = users;
	per_op = parameter_u64(c, "per_op", 1);
	if (users == 0 || users > 100000 || per_op == 0)
		wrong_arguments(c, "users= is from 1 to 100000, and per_op= at least 1");
	if (TYPING) {
		parse_typing(c);
		max = most_users;
	}
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	make_script(c);
	const char *why = missing_resource(users);
	if (why != NULL)
		skip(c, "%s", why);
	user = calloc(max, sizeof *user);
	epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (user == NULL || epoll_fd < 0)
		failed(c, "calloc");
	if (why != NULL || user == NULL || epoll_fd < 0)
		return;
	memory_before_kb = free_memory_kb();
	start_ns = now_ns();
	for (int ok = !TYPING; ok && logged_in < (int)users;) {
		user[logged_in].number = logged_in + 1;
		ok = log_in(c, &user[logged_in++]);
		if (!ok)
			log_out_all();
	}
	if (!TYPING && script.files_are_correct != NULL)
		run_transactions(c, 0, 1);
}

static inline void run(struct context *c, uint64_t n, uint64_t *check)
{
	if (TYPING) {
		find_capacity(c);
		*check = n * per_op;
		return;
	}
	before = 0;
	for (int i = 0; i < logged_in; i++)
		before += user[i].transactions;
	transactions = before;
	run_transactions(c, before + n * per_op, 0);
	for (int i = 0; i < logged_in; i++)
		*check += user[i].transactions;
	*check -= before;
}

static inline uint64_t expect(struct context *c, uint64_t n)
{
	(void)c;
	return n * per_op;
}

/* CPU share of the terminal emulation, which is part of the load; in coarse classes, so that launches agree on the remark. */
static inline void note_reader_cost(struct context *c)
{
	static const int classes[] = {1, 2, 5, 10, 20, 50, 100};
	struct rusage r;
	int i = 0;
	getrusage(RUSAGE_SELF, &r);
	double cpu_seconds = (double)(r.ru_utime.tv_sec + r.ru_stime.tv_sec) + (double)(r.ru_utime.tv_usec + r.ru_stime.tv_usec) / 1e6;
	double share = 100 * cpu_seconds / ((double)(now_ns() - start_ns) / 1e9);
	while (share > classes[i] && i < 6)
		i++;
	note(c, "reader_percent", "%.2f", share);
	note(c, "remark", "Typing and reading at all terminals took less than %d %% of one CPU.", classes[i]);
}

static inline void teardown(struct context *c)
{
	uint64_t left_kb = free_memory_kb();
	if (logged_in > 0)
		note(c, "memory_per_user_kb", "%lld", ((long long)memory_before_kb - (long long)left_kb) / logged_in);
	if (TYPING)
		note(c, "users_carried", "%llu", (unsigned long long)carried);
	if (TYPING && overloaded > 0)
		note(c, "users_too_many", "%llu", (unsigned long long)overloaded);
	else if (TYPING && resource_limit != NULL)
		note(c, "remark", "%s", resource_limit);
	note_reader_cost(c);
	log_out_all();
}

#endif
