"""Revisit policies compared on the same changes with the same budget: the lines of ``scrapy rehearse --revisit``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np

from crawlproject.evaluation.freshness.collection import SiteCollection
from crawlproject.evaluation.freshness.measures import Totals, measure
from crawlproject.evaluation.freshness.oracle import freshness_bound
from crawlproject.evaluation.freshness.simulation import Simulation
from crawlproject.parts.revisits.registry import make_policy

BASE = "uniform"


@dataclass(frozen=True, slots=True)
class PolicyRun:
    """What a policy reached: the sums of all sites and of each, by its place in the collection.

    ``fetches`` were spent of ``budget``. ``given_up`` is the share of the pages that are never visited again. ``oracle`` is what
    no policy can exceed in freshness.
    """

    policy: str
    total: Totals
    sites: tuple[Totals, ...]
    fetches: int
    budget: float
    given_up: float
    oracle: float

    def share(self, base: PolicyRun) -> float | None:
        """The freshness above that of ``base``, as a part of what can be added to it; None when nothing can."""
        room = self.oracle - base.total.freshness
        return (self.total.freshness - base.total.freshness) / room if room > 0 else None

    def line(self, base: PolicyRun) -> dict[str, Any]:
        """The measures by name, rounded; those without evidence are None."""
        total = self.total
        figures = {
            "freshness": total.freshness,
            "share": self.share(base),
            "content_freshness": total.content_freshness,
            "age_days": total.age_days,
            "captured_share": total.captured_share if total.changes else None,
            "delay_days": total.delay_days if total.delays else None,
            "wait_days": total.wait_days if total.found else None,
            "given_up": self.given_up,
            "oracle": self.oracle,
        }
        rounded = {name: None if figure is None else round(figure, 4) for name, figure in figures.items()}
        counts = {"changes": total.changes, "new": total.born, "new_found": total.found, "fetches": self.fetches}
        counts = {name: int(count) for name, count in counts.items()}  # numpy counts, too
        return {"policy": self.policy, **rounded, **counts}


def run_policy(collection: SiteCollection, name: str, days: float, *, last_modified: bool = False) -> PolicyRun:
    """Simulate a policy with a budget of a visit per page in ``days`` on average. Raises ``BadSetting`` for a wrong name."""
    policy = make_policy(name)
    log = Simulation(collection, policy, days=days, last_modified=last_modified).run()
    sites = measure(collection, log)
    due = policy.next_visits()
    given_up = float(np.isinf(due).mean()) if len(due) else 0.0
    bound = freshness_bound(collection, log.budget)
    return PolicyRun(name, reduce(Totals.__add__, sites), tuple(sites), log.fetches, log.budget, given_up, bound)


def compare_policies(collection: SiteCollection, names: Sequence[str], days: float) -> Iterator[dict[str, Any]]:
    """A line for each policy, in the order given; ``share`` is against ``uniform``, which runs in any case."""
    base = run_policy(collection, BASE, days)
    for name in names:
        yield {**(base if name == BASE else run_policy(collection, name, days)).line(base), "days": days}
