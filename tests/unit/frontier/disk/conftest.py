"""What tests of the parts of a frontier on disk share."""

from __future__ import annotations

import pytest

from crawlproject.frontier.disk import hash_table


@pytest.fixture(params=["compiled", "in Python"])
def each_way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Segments are looked into by compiled code, and without it."""
    if request.param == "in Python":
        monkeypatch.setattr(hash_table, "hash_slots", None)
    elif hash_table.hash_slots is None:
        pytest.skip("not compiled")
