/* futex(2), which glibc has no function for. Needs _GNU_SOURCE. Stands without the runtime. */
#ifndef GRITSTONE_RUNTIME_FUTEX_H
#define GRITSTONE_RUNTIME_FUTEX_H

#include <limits.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

/* timeout: s and ns, as Linux's own struct timespec has them; NULL: none. */
static inline long futex(_Atomic uint32_t *word, int operation, uint32_t value, const long *timeout)
{
	return syscall(SYS_futex, word, operation, value, timeout, NULL, 0);
}

/* Sleeps while the word has this value; wakes without cause are possible. */
static inline void futex_wait(_Atomic uint32_t *word, uint32_t value) { futex(word, FUTEX_WAIT, value, NULL); }

static inline void futex_wake_all(_Atomic uint32_t *word) { futex(word, FUTEX_WAKE, INT_MAX, NULL); }

#endif
