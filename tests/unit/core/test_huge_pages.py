"""Huge pages of 2 MB: they are used and released, as is memory allocated before. Each test runs in a separate process."""

from __future__ import annotations

import json
import platform
import subprocess
import sys
from pathlib import Path

import pytest
from support.crawling import ROOT

from crawlproject.core import process_tuning

SETTING = Path("/sys/kernel/mm/transparent_hugepage/enabled")
LINUX = tuple(map(int, platform.release().split(".")[:2])) if sys.platform == "linux" else (0, 0)
BEFORE = """
import json, os, resource, sys
from pathlib import Path
from crawlproject.core.process_tuning import collapse_huge_pages, take_huge_pages

def memory(kind):
    lines = Path("/proc/self/smaps_rollup").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith(kind + ":"))  # MB

def objects(count):
    return [str(number) * 9 for number in range(count)]  # 100 bytes each

def are_whole(found):
    return all(text == str(number) * 9 for number, text in enumerate(found))
"""


def run(script: str) -> dict[str, float]:
    """Run a script and return its JSON output."""
    done = subprocess.run(
        [sys.executable, "-c", BEFORE + script], cwd=ROOT, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, float] = json.loads(done.stdout)
    return found


pytestmark = pytest.mark.skipif(
    process_tuning.huge_pages is None or not SETTING.exists() or "[never]" in SETTING.read_text(),
    reason="no pages of 2 MB here, or nothing was compiled",
)


def test_what_python_and_malloc_take_has_huge_pages() -> None:
    found = run("""
earlier = objects(400_000), [bytes(4000) for _ in range(9_000)]  # 40 MB each
take_huge_pages()
begun = memory("AnonHugePages")
later = objects(800_000), [bytes(4000) for _ in range(18_000)]
print(json.dumps({"before": begun, "after": memory("AnonHugePages"), "whole": are_whole(earlier[0] + later[0][400_000:])}))
""")
    assert found["whole"]
    assert found["after"] - found["before"] > 100, found  # of some 150


def test_memory_is_given_back_and_taken_again() -> None:
    found = run("""
earlier = objects(500_000)
take_huge_pages()
take_huge_pages()
kept, begun, freed = objects(1_000), memory("Rss"), []
del earlier
for _ in range(4):
    many = objects(2_000_000)
    assert are_whole(many)
    most = memory("Rss")
    del many
    collapse_huge_pages()  # takes nothing that was given back
    freed.append(memory("Rss"))
print(json.dumps({"begun": begun, "most": most, "freed": max(freed), "whole": are_whole(kept)}))
""")
    assert found["whole"] and found["most"] > found["begun"] + 100
    assert found["freed"] < found["begun"] + 60, found


def test_a_process_that_may_have_no_more_is_told_and_goes_on() -> None:
    found = run("""
take_huge_pages()
have = objects(100_000)
limit = 2**20 * int(memory("Rss") + 400)
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
try:
    for _ in range(100):
        have.append(objects(100_000))
except MemoryError:
    got = len(have) - 100_000
    del have[100_001:]
    print(json.dumps({"got": got, "whole": are_whole(have[:100_000]) and are_whole(objects(1_000))}))
""")
    assert found["whole"] and 5 < found["got"] < 100


def test_a_fork_and_its_parent_have_memory_of_their_own() -> None:
    found = run("""
take_huge_pages()
have = objects(300_000)
child = os.fork()
if not child:
    have = have[:1_000] + objects(300_000)
    os._exit(0 if are_whole(have[1_000:]) else 1)
more = objects(300_000)
_, status = os.waitpid(child, 0)
print(json.dumps({"child": status, "whole": are_whole(have) and are_whole(more)}))
""")
    assert found["whole"] and not found["child"]


@pytest.mark.skipif(LINUX < (6, 1), reason="Linux cannot collapse pages when it is asked to")
def test_what_a_fork_has_split_is_put_together_again() -> None:
    found = run("""
take_huge_pages()
have = objects(800_000), [bytes(4000) for _ in range(18_000)]  # 80 MB each
before = memory("AnonHugePages")
reading, writing = os.pipe()
child = os.fork()
if not child:
    os.close(writing)
    os.read(reading, 1)  # until the parent has written
    os._exit(0)
more = [text for text in have[0]], [data for data in have[1]]  # counts references, so each page is written to
os.close(writing)
os.waitpid(child, 0)
split = memory("AnonHugePages")
collapse_huge_pages()
whole = are_whole(have[0]) and all(data == bytes(4000) for data in have[1])
print(json.dumps({"before": before, "split": split, "after": memory("AnonHugePages"), "whole": whole}))
""")
    assert found["whole"]
    assert found["split"] < found["before"] / 2 < 0.9 * found["before"] < found["after"], found


def test_without_the_compiled_part_all_stays_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process_tuning, "huge_pages", None)
    process_tuning.take_huge_pages()
    process_tuning.collapse_huge_pages()
