"""Plugin for pytest: spares launches of `gritstone pr` the two seconds that pytest-benchmark spends in each process before it measures."""

from collections import defaultdict
from functools import partial
from time import time

try:
    from pytest_benchmark import plugin, timers
except ImportError:
    pass
else:
    # describes the processor; a hook of the project may read any key of it
    plugin.get_cpu_info = partial(defaultdict, str)
    # versions before 5.3 read the timer of benchmarks for a second of this clock
    timers.timeout_timer = lambda: 100 * time()
