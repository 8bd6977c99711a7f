/* Wrapper for futex(2), which glibc lacks. Needs _GNU_SOURCE. Independent of the runtime. */
#ifndef GRITSTONE_RUNTIME_FUTEX_H
#define GRITSTONE_RUNTIME_FUTEX_H

#include <limits.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

/* timeout: s and ns, as in the kernel's struct timespec; NULL: none. */
static inline long futex(_Atomic uint32_t *word, int operation, uint32_t value, const long *timeout)
{
	return syscall(SYS_futex, word, operation, value, timeout, NULL, 0);
}

/* Sleeps while the word has this value; spurious wakeups are possible. */
static inline void futex_wait(_Atomic uint32_t *word, uint32_t value) { futex(word, FUTEX_WAIT, value, NULL); }

static inline void futex_wake_all(_Atomic uint32_t *word) { futex(word, FUTEX_WAKE, INT_MAX, NULL); }

#endif
