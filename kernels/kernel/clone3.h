/* clone3(CLONE_VM | CLONE_VFORK), as C libraries implement posix_spawn(): the parent sleeps until the child, which runs in the parent's
 * memory on its own stack, executes a program or exits. Since the call returns twice, once on another stack, it needs assembly, here for
 * some processors. */
#ifndef GRITSTONE_CLONE3_H
#define GRITSTONE_CLONE3_H

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <sys/types.h>

#define CLONE3 435 /* the same number on every architecture */

/* The first version of struct clone_args, which old linux/sched.h headers lack. */
struct clone3 {
	uint64_t flags, pidfd, child_tid, parent_tid, exit_signal, stack, stack_size, tls;
};

static char clone3_stack[16384] __attribute__((aligned(16)));

/* The child process calls child(), which must not return. Returns its pid, or -1 with errno. */
static inline pid_t clone3_vfork(void (*child)(void))
{
	struct clone3 a = {
		.flags = CLONE_VM | CLONE_VFORK,
		.exit_signal = SIGCHLD,
		.stack = (uint64_t)(uintptr_t)clone3_stack,
		.stack_size = sizeof clone3_stack,
	};
#if defined __x86_64__ && !defined __ILP32__
	register long result __asm__("rax") = CLONE3;
	__asm__ volatile("syscall\n\t"
			 "test %%rax, %%rax\n\t"
			 "jnz 1f\n\t"
			 "call *%[child]\n\t"
			 "hlt\n"
			 "1:"
			 : "+r"(result)
			 : "D"(&a), "S"(sizeof a), [child] "r"(child)
			 : "rcx", "r11", "cc", "memory");
#elif defined __aarch64__
	register long result __asm__("x0") = (long)&a;
	register long bytes __asm__("x1") = sizeof a;
	register long number __asm__("x8") = CLONE3;
	__asm__ volatile("svc #0\n\t"
			 "cbnz x0, 1f\n\t"
			 "blr %[child]\n\t"
			 "brk #1\n"
			 "1:"
			 : "+r"(result)
			 : "r"(bytes), "r"(number), [child] "r"(child)
			 : "cc", "memory");
#else
	long result = -ENOSYS;
	(void)a;
	(void)child;
#endif
	if (result >= 0)
		return (pid_t)result;
	errno = (int)-result;
	return -1;
}

#endif
