"""The table of keys against a dictionary."""

from __future__ import annotations

from collections import defaultdict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlproject.parts.duplicates import sketch_store
from crawlproject.parts.duplicates.sketch_store import PER_KEY, KeyTable

KEYS = st.integers(0, 2**64 - 1)


@given(st.lists(st.tuples(st.one_of(KEYS, st.integers(0, 5)), st.integers(0, 2**32 - 2)), max_size=400))
def test_it_finds_the_first_numbers_of_each_key(pairs):
    table, model = KeyTable(), defaultdict(list)
    for key, number in pairs:
        table.add(key, number)
        model[key >> 58, key % 2**32].append(number)  # of a key 38 bits are kept
    for (head, tag), numbers in model.items():
        assert table.find(head << 58 | tag) == numbers[:PER_KEY]


def test_a_key_that_was_not_added_has_no_numbers():
    table = KeyTable()
    table.add(7, 1)
    assert table.find(8) == []


def test_it_takes_less_than_25_bytes_a_number():
    table = KeyTable()
    for number in range(50_000):
        table.add(number * 0x9E3779B97F4A7C15 % 2**64, number)
    assert table.size / 50_000 < 25


@given(st.lists(st.tuples(st.one_of(KEYS, st.integers(0, 5)), st.integers(0, 2**32 - 2)), max_size=400))
def test_compiled_code_keeps_the_same(pairs):
    pytest.importorskip("crawlproject.parts.duplicates.key_slots", reason="not compiled")
    pairs += [(number << 20, number) for number in range(100)]  # some tables double
    compiled, interpreted = KeyTable(), KeyTable()
    for key, number in pairs:
        compiled.add(key, number)
    found = [compiled.find(key) for key, _ in pairs]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sketch_store, "key_slots", None)
        for key, number in pairs:
            interpreted.add(key, number)
        assert found == [interpreted.find(key) for key, _ in pairs]
    assert compiled.size == interpreted.size > KeyTable().size
