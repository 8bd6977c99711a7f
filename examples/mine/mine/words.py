#!/usr/bin/env python3
# mine/words.py: one operation is one look-up of a word among 1,000 in a dictionary. Speaks docs/protocol.md.
import time

out, words = open(3, "w"), {f"word{i}": i for i in range(1000)}

def region(n):  # n operations, timed together; every hundredth word in turn, ten of them
    keys, total = [f"word{i}" for i in range(0, 1000, 100)] * (n // 10), 0
    cpu, wall = time.process_time_ns(), time.monotonic_ns()
    for key in keys:
        total += words[key]
    wall, cpu = time.monotonic_ns() - wall, time.process_time_ns() - cpu
    return wall, cpu, f"check n={n} got={total} expected={450 * n}"

n, counters = 10, "vcsw=0 icsw=0 minflt=0 majflt=0 inblock=0 oublock=0 migrations=0"
print("hello protocol=1 kernel=mine/words.py", file=out)
while min(region(n)[0], region(n)[0]) < 10_000_000:
    n *= 2
for size in [n // 2, n] * 3:
    print(f"warm n={size} wall={region(size)[0]}", file=out)
for wall, cpu, check in [region(n) for _ in range(5)]:
    print(f"sample n={n} wall={wall} pace=0 user=0 system=0 cpu={cpu} {counters}\n{check}", file=out)
print("bye", file=out)
