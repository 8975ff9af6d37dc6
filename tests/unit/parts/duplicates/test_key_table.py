"""The table of keys against a dictionary."""

from __future__ import annotations

from collections import defaultdict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlproject.parts.duplicates import sketch_store
from crawlproject.parts.duplicates.sketch_store import PER_KEY, KeyTable

KEYS = st.lists(st.one_of(st.integers(0, 2**64 - 1), st.integers(0, 5)), max_size=25)
ADDED = st.lists(st.tuples(KEYS, st.integers(0, 2**32 - 2)), max_size=60)


@given(ADDED)
def test_it_finds_the_first_numbers_of_each_key(added):
    table, model = KeyTable(), defaultdict(list)
    for keys, number in added:
        table.add(keys, number)
        for key in keys:
            model[key >> 58, key % 2**32].append(number)  # of a key 38 bits are kept
    for (head, tag), numbers in model.items():
        assert table.find([head << 58 | tag]) == numbers[:PER_KEY]
    found = table.find([head << 58 | tag for head, tag in model])
    assert found == [number for numbers in model.values() for number in numbers[:PER_KEY]]


def test_a_key_that_was_not_added_has_no_numbers():
    table = KeyTable()
    table.add([7], 1)
    assert table.find([8]) == []


def test_it_takes_less_than_25_bytes_a_number():
    table = KeyTable()
    for number in range(50_000):
        table.add([number * 0x9E3779B97F4A7C15 % 2**64], number)
    assert table.size / 50_000 < 25


@given(ADDED)
def test_compiled_code_keeps_the_same(added):
    pytest.importorskip("crawlproject.parts.duplicates.key_slots", reason="not compiled")
    added += [([number << 20 for number in range(100)], 100)]  # a table doubles in between
    compiled, interpreted = KeyTable(), KeyTable()
    for keys, number in added:
        compiled.add(keys, number)
    found = [compiled.find(keys) for keys, _ in added]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sketch_store, "key_slots", None)
        for keys, number in added:
            interpreted.add(keys, number)
        assert found == [interpreted.find(keys) for keys, _ in added]
    assert compiled.size == interpreted.size > KeyTable().size
