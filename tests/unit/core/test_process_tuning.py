import platform
import re
import subprocess
import sys
from pathlib import Path

import pytest

_TWO_CRAWLS = """
import gc, weakref
from crawlproject.core.process_tuning import tune_process

class Node: ...

tune_process()
node = Node()
node.itself = node
left = weakref.ref(node)
del node
tune_process()
gc.collect()
print(left() is None)
"""


def test_what_one_crawl_leaves_is_freed_in_the_next_one_of_the_same_process() -> None:
    done = subprocess.run([sys.executable, "-c", _TWO_CRAWLS], capture_output=True, text=True, check=True)
    assert done.stdout == "True\n"


_TURNS = """
import os, subprocess
from pathlib import Path
from crawlproject.core.process_tuning import tune_process

os.nice(3)
tune_process()
print(os.sched_getscheduler(0) & ~os.SCHED_RESET_ON_FORK == os.SCHED_BATCH, os.nice(0))
for of in ("/proc/self/sched", f"/proc/{os.getpid()}/sched"):
    print(*[line.split()[-1] for line in subprocess.check_output(["cat", of], text=True).splitlines() if "slice" in line])
"""


def test_a_crawl_lets_others_come_first_and_runs_longer_at_a_time_than_what_it_starts() -> None:
    if platform.machine() not in ("x86_64", "aarch64", "riscv64") or not Path("/proc/self/sched").exists():
        pytest.skip("this system does not tell how long a turn is")
    done = subprocess.run([sys.executable, "-c", _TURNS], capture_output=True, text=True, check=True)
    policy, child, own = done.stdout.splitlines()
    assert policy == "True 3"
    if tuple(map(int, re.findall("[0-9]+", platform.release())[:2])) >= (6, 12):  # before, there is one length for all
        assert float(own) == 100_000_000 > float(child)
