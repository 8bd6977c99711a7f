/* What the keeper asks of the system, and how it begins: without a C library where BARE is defined.
 *
 * A keeper is started for every launch. To start and end, an empty program with a static C library took .56 ms of CPU time on a virtual
 * machine, and one without it .05: half of the difference are some forty questions to the processor (CPUID), each of which leaves the
 * virtual machine for 6.5 us.
 * Calls are numbered and laid out as the kernel's headers say; each returns what the kernel does, an error as its negative number.
 */
#include <asm/unistd.h>
#include <signal.h>
#include <stddef.h>

#ifndef BARE

#include <errno.h>
#include <unistd.h>

static long system_call(long number, long a, long b, long c, long d)
{
	long result = syscall(number, a, b, c, d, 0L);
	return result < 0 ? -errno : result;
}

#elif defined(__x86_64__)

#define START "xor %ebp, %ebp\n\tmov %rsp, %rdi\n\tand $-16, %rsp\n\tcall begin\n\thlt"

static long system_call(long number, long a, long b, long c, long d)
{
	register long fourth __asm__("r10") = d;
	long result;
	__asm__ volatile("syscall" : "=a"(result) : "a"(number), "D"(a), "S"(b), "d"(c), "r"(fourth) : "rcx", "r11", "memory");
	return result;
}

#else

#if defined(__aarch64__)
#define CALL "svc 0"
#define NUMBER "x8"
#define ARGUMENT(n) "x" #n
#define START "mov x29, 0\n\tmov x30, 0\n\tmov x0, sp\n\tbl begin"
#elif defined(__riscv) && __riscv_xlen == 64
#define CALL "ecall"
#define NUMBER "a7"
#define ARGUMENT(n) "a" #n
#define START                                                                                                              \
	".option push\n\t.option norelax\n\tlla gp, __global_pointer$\n\t.option pop\n\t"                               \
	"mv a0, sp\n\tandi sp, sp, -16\n\tcall begin"
#else
#error "no calls of the system are known for this processor: compile without BARE"
#endif

static long system_call(long number, long a, long b, long c, long d)
{
	register long call __asm__(NUMBER) = number;
	register long first __asm__(ARGUMENT(0)) = a;
	register long second __asm__(ARGUMENT(1)) = b;
	register long third __asm__(ARGUMENT(2)) = c;
	register long fourth __asm__(ARGUMENT(3)) = d;
	__asm__ volatile(CALL : "+r"(first) : "r"(call), "r"(second), "r"(third), "r"(fourth) : "memory");
	return first;
}

#endif

static inline _Noreturn void leave(long status)
{
	for (;;)
		system_call(__NR_exit_group, status, 0, 0, 0);
}

/* fork(2). Where there is a C library it knows how this processor wants it. */
static inline long new_process(void)
{
#ifdef BARE
	return system_call(__NR_clone, SIGCHLD, 0, 0, 0);
#else
	long pid = fork();
	return pid < 0 ? -errno : pid;
#endif
}

#ifdef BARE

int main(int argc, char **argv, char **environment);

/* The stack as the kernel leaves it: the number of arguments, the arguments, nothing, the environment, nothing. */
_Noreturn void begin(long *stack);
_Noreturn void begin(long *stack)
{
	char **argv = (char **)(stack + 1);
	leave(main((int)stack[0], argv, argv + stack[0] + 1));
}

__asm__(".globl _start\n_start:\n\t" START);

/* Compilers call these of themselves. The barrier keeps them from calling them here. */
void *memset(void *to, int byte, size_t count);
void *memset(void *to, int byte, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		((unsigned char *)to)[i] = (unsigned char)byte;
		__asm__ volatile("" : : : "memory");
	}
	return to;
}

void *memcpy(void *to, const void *from, size_t count);
void *memcpy(void *to, const void *from, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		((unsigned char *)to)[i] = ((const unsigned char *)from)[i];
		__asm__ volatile("" : : : "memory");
	}
	return to;
}

#endif

/* A line that is put together, and written at once. What has no room is left out. */
struct line {
	size_t length;
	char text[4096];
};

static inline void put(struct line *line, const char *text)
{
	while (*text != '\0' && line->length < sizeof line->text)
		line->text[line->length++] = *text++;
}

static inline void put_number(struct line *line, long number)
{
	char digits[24];
	size_t at = sizeof digits;
	unsigned long rest = number < 0 ? 0 - (unsigned long)number : (unsigned long)number;
	digits[--at] = '\0';
	do
		digits[--at] = (char)('0' + rest % 10);
	while ((rest /= 10) != 0);
	if (number < 0)
		digits[--at] = '-';
	put(line, digits + at);
}

static inline void say(int descriptor, const struct line *line)
{
	system_call(__NR_write, descriptor, (long)line->text, (long)line->length, 0);
}

/* The number that a text begins with, behind which the text stands then; -1 where it begins with none, or with one beyond 10^9. */
static inline long take_number(const char **text)
{
	long number = -1;
	for (; **text >= '0' && **text <= '9'; (*text)++) {
		number = (number < 0 ? 0 : number) * 10 + (**text - '0');
		if (number > 1000000000)
			return -1;
	}
	return number;
}

/* Behind a text's beginning; NULL where it begins otherwise. */
static inline const char *behind(const char *text, const char *beginning)
{
	while (*beginning != '\0')
		if (*text++ != *beginning++)
			return NULL;
	return text;
}

static inline int is(const char *text, const char *other)
{
	const char *rest = behind(text, other);
	return rest != NULL && *rest == '\0';
}
