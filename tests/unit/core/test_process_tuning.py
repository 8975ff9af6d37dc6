import subprocess
import sys

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
