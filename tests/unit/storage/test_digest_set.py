"""The set of digests behaves like a set of strings."""

from __future__ import annotations

import sys

from hypothesis import given
from hypothesis import strategies as st

from crawlproject.storage.history import DigestSet


@given(st.lists(st.text(max_size=3)), st.lists(st.text(max_size=3)))
def test_it_is_a_set(added: list[str], asked: list[str]) -> None:
    digests, plain = DigestSet(), set()
    for text in added:
        digests.add(text)
        plain.add(text)
        assert len(digests) == len(plain)
    for text in added + asked:
        assert (text in digests) == (text in plain)


def test_nothing_is_lost_as_it_grows_and_nothing_comes_in() -> None:
    digests = DigestSet()
    for number in range(20_000):
        digests.add(f"http://h.example/{number}")
    assert len(digests) == 20_000
    assert all(f"http://h.example/{number}" in digests for number in range(20_000))
    assert not any(f"http://h.example/{number}" in digests for number in range(20_000, 40_000))


def test_it_takes_48_bytes_for_each_at_most_once_it_has_grown() -> None:
    digests = DigestSet()
    for number in range(50_000):
        digests.add(str(number))
    assert sum(map(sys.getsizeof, digests._tables)) <= 50 * len(digests)
