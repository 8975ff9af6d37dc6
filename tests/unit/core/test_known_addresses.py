"""Remembered addresses: for their lifetime within bounds, and up to a maximum number."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlproject.core.server_addresses import LEAST, MISSING, MOST, UNKNOWN, KnownAddresses


@pytest.mark.parametrize(
    ("ttl", "holds"), [(0, LEAST), (LEAST - 1, LEAST), (3_600, 3_600), (MOST, MOST), (2**31, MOST), (None, UNKNOWN)]
)
def test_a_name_is_remembered_for_as_long_as_its_records_say_within_bounds(ttl: float | None, holds: float) -> None:
    known: KnownAddresses[str] = KnownAddresses(10)
    known.keep("reef.org", "192.0.2.1", 1_000.0, ttl)
    assert known.get("reef.org", 1_000.0 + holds - 0.1) == "192.0.2.1"
    assert known.get("reef.org", 1_000.0 + holds) is None
    assert len(known) == 0


def test_that_there_is_no_such_name_is_remembered_shortly() -> None:
    known: KnownAddresses[str] = KnownAddresses(10)
    known.keep_missing("reef.org", "none", 0.0)
    assert known.get("reef.org", MISSING - 0.1) == "none"
    assert known.get("reef.org", MISSING) is None


Steps = st.lists(st.tuples(st.integers(0, 9), st.booleans(), st.integers(0, 300), st.integers(0, 100)))


@given(Steps, st.integers(1, 5))
def test_it_is_as_a_dictionary_that_forgets_what_was_asked_for_longest_ago(
    steps: list[tuple[int, bool, int, int]], size: int
) -> None:
    known: KnownAddresses[int] = KnownAddresses(size)
    model: dict[str, tuple[int, float]] = {}  # in order of use
    now = 0.0
    for number, (name, keeps, ttl, later) in enumerate(steps):
        now += later
        key = str(name)
        if keeps:
            known.keep(key, number, now, ttl)
            model.pop(key, None)
            model[key] = (number, now + max(ttl, LEAST))
            if len(model) > size:
                del model[next(iter(model))]
        else:
            kept = model.pop(key, None)
            if kept is not None and kept[1] > now:
                model[key] = kept
            assert known.get(key, now) == (kept[0] if key in model and kept else None)
    assert len(known) == len(model)
