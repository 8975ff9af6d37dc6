"""A map from digests to numbers: entries are found in memory and in the table, also while a thread moves them there."""

from __future__ import annotations

import resource
from hashlib import md5
from pathlib import Path
from threading import Thread

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawlproject.errors import StorageFailed
from crawlproject.frontier.disk import hash_table
from crawlproject.frontier.disk.digest_numbers import DigestNumbers


def digest(number: int) -> bytes:
    return md5(str(number).encode()).digest()


STEPS = st.lists(
    st.sampled_from(["seal", "flush", "open"])
    | st.dictionaries(st.integers(0, 60), st.integers(0, 2**40 - 2), min_size=1)
)


@pytest.mark.usefixtures("each_way")
@settings(max_examples=60, deadline=None)
@given(STEPS)
def test_it_has_what_was_set_last(tmp_path_factory: pytest.TempPathFactory, steps: list) -> None:
    """After reopening it holds flushed entries; or entries that were only merged, which the journal sets again."""
    path = tmp_path_factory.mktemp("numbers") / "seen"
    numbers, known = DigestNumbers(path), {}
    journal: dict[bytes, int] = {}
    for step in steps:
        if step == "seal":
            numbers.seal()
        elif step == "flush":
            numbers.seal()
            numbers.flush()
            journal = {}
        elif step == "open":
            numbers.close()
            numbers = DigestNumbers(path)
            numbers.update(journal)
        else:
            new = {digest(key): number for key, number in step.items()}
            numbers.update(new)
            known |= new
            journal |= new
        assert {key: numbers.get(key) for key in map(digest, range(60))} == {
            key: known.get(key) for key in map(digest, range(60))
        }
    numbers.close()


@pytest.mark.skipif(hash_table.hash_slots is None, reason="not compiled: no thread writes")
def test_all_is_found_while_a_thread_merges_it(tmp_path: Path) -> None:
    """All of 200,000 entries, whose merge splits the segments many times."""
    numbers, known = DigestNumbers(tmp_path / "seen"), 0
    for _ in range(4):
        numbers.update({digest(number): number for number in range(known, known + 50_000)})
        known += 50_000
        numbers.seal()
        thread = Thread(target=numbers.flush)
        thread.start()
        looks = 0
        while thread.is_alive() or not looks:
            some = range(looks * 997 % known, known, known // 50)
            assert [numbers.get(digest(number)) for number in some] == [*some]
            assert numbers.get(digest(known + looks)) is None
            looks += 1
        thread.join()
    assert all(numbers.get(digest(number)) == number for number in range(known))
    numbers.close()
    again = DigestNumbers(tmp_path / "seen", readonly=True)
    assert all(again.get(digest(number)) == number for number in range(known))


@pytest.mark.usefixtures("each_way")
def test_what_the_disk_refuses_the_next_flush_writes(tmp_path: Path) -> None:
    numbers = DigestNumbers(tmp_path / "seen")
    some = {digest(number): number for number in range(10_000)}
    numbers.update(some)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, before[1]))
    try:
        with pytest.raises(StorageFailed, match="seen"):
            numbers.seal()
            numbers.flush()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert all(numbers.get(key) == number for key, number in some.items())
    numbers.update({digest(1): 5})
    numbers.seal()
    numbers.flush()
    numbers.close()
    again = DigestNumbers(tmp_path / "seen")
    assert all(again.get(key) == number for key, number in (some | {digest(1): 5}).items())
