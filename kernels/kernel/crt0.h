/* Minimal startup code: passes the initial stack to main, and its return value to exit_group(2). On the processors below, programs that
 * include this are linked without the C library and its startup; elsewhere they are ordinary static programs. */
#ifndef GRITSTONE_CRT0_H
#define GRITSTONE_CRT0_H

int main(void) __attribute__((used)); /* referenced by _start only */

#if defined __x86_64__ && !defined __ILP32__
__asm__(".globl _start\n"
	"_start:\n\t"
	"xor %ebp, %ebp\n\t"
	"mov (%rsp), %rdi\n\t"
	"lea 8(%rsp), %rsi\n\t"
	"lea 16(%rsp, %rdi, 8), %rdx\n\t"
	"and $-16, %rsp\n\t"
	"call main\n\t"
	"mov %eax, %edi\n\t"
	"mov $231, %eax\n\t" /* exit_group */
	"syscall\n\t"
	"hlt\n");
#elif defined __aarch64__
__asm__(".globl _start\n"
	"_start:\n\t"
	"mov x29, #0\n\t"
	"ldr x0, [sp]\n\t"
	"add x1, sp, #8\n\t"
	"add x2, x1, x0, lsl #3\n\t"
	"add x2, x2, #8\n\t"
	"bl main\n\t"
	"mov x8, #94\n\t" /* exit_group */
	"svc #0\n\t"
	"brk #1\n");
#elif defined __riscv && __riscv_xlen == 64
__asm__(".globl _start\n"
	"_start:\n\t"
	"ld a0, 0(sp)\n\t"
	"addi a1, sp, 8\n\t"
	"slli a2, a0, 3\n\t"
	"add a2, a2, a1\n\t"
	"addi a2, a2, 8\n\t"
	"andi sp, sp, -16\n\t"
	"call main\n\t"
	"li a7, 94\n\t" /* exit_group */
	"ecall\n\t"
	"ebreak\n");
#endif

#endif
