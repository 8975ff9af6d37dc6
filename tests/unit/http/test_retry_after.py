from __future__ import annotations

import pytest

from crawlproject.adapters.leases import asked_rest

NOON = 1_700_000_000.0  # Tue, 14 Nov 2023 22:13:20 GMT


@pytest.mark.parametrize(
    ("status", "value", "seconds"),
    [
        (429, "7", 7.0),
        (503, " 120 ", 120.0),
        (503, "Tue, 14 Nov 2023 22:13:50 GMT", 30.0),
        (503, "Tue, 14 Nov 2023 22:13:10 GMT", 0.0),
        (429, "86400", 300.0),
        (429, "9" * 400, 0.0),
        (429, "-5", 0.0),
        (429, "soon", 0.0),
        (429, "", 0.0),
        (200, "7", 0.0),
        (404, "7", 0.0),
    ],
)
def test_what_a_response_asks_for(status: int, value: str, seconds: float) -> None:
    assert asked_rest(status, value, NOON, 300.0) == seconds
