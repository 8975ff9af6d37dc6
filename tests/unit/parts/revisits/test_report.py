"""What the report says of a policy that estimates no rates: changes a day, as of the others."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from crawlproject.parts.revisits.options import RevisitOptions
from crawlproject.parts.revisits.policies.closed_form import Uniform
from crawlproject.parts.revisits.report import estimate_freshness
from crawlproject.records import CHANGED, SAME, Visit

DAY = 86_400.0


def test_without_an_estimate_a_rate_is_of_the_days_that_a_page_was_watched(
    write_crawl: Callable[..., Path], page: Callable[..., Visit], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Uniform, "explain", lambda self, row: {})
    monthly, once, late = (f"http://{name}.example/" for name in ("monthly", "once", "late"))

    def again(number: int, day: float, change: str) -> Visit:
        seen: dict[str, Any] = {"md5": "", "number": number, "version": number, "change": change}
        return page(monthly, at=day * DAY, novelty=float(change == CHANGED), **seen)

    visits = [page(monthly, at=0.0), page(once, at=10 * DAY), again(2, 30, SAME), again(3, 60, CHANGED)]
    visits.append(page(late, at=60 * DAY))
    found = estimate_freshness(write_crawl(tmp_path / "c", visits), RevisitOptions(crawl_revisit="uniform"))
    assert found is not None
    assert {host.host: host.rate for host in found.hosts} == pytest.approx(
        {"monthly.example": 1.5 / 60, "once.example": 0.5 / 50, "late.example": 0.5}
    )
