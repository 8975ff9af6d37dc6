"""What could be reached by a crawler that knows all changes before they happen."""

from __future__ import annotations

import numpy as np

from crawlproject.evaluation.freshness.collection import SiteCollection


def freshness_bound(collection: SiteCollection, budget: float) -> float:
    """An upper bound of weighted binary freshness with ``budget`` visits in all.

    A visit at the moment of a change keeps the page up to date until the next change; no visit can do more. So the best is to
    buy the longest periods (times the weight of the page), one visit each. It is a bound and not a schedule: visits may be
    saved up and spent at any time, and a period whose text was there before is free (a copy of that text may have been kept
    by chance). A page that goes is dropped at once.
    """
    free = total = 0.0
    periods: list[float] = []
    for page, member in enumerate(collection.members):
        weight = float(collection.weights[page])
        history = member.history
        times = history.times + member.shift
        seen: set[int] = set()
        for number, (start, end) in enumerate(collection.lives(page)):
            total += weight * (end - start)
            first = collection.version_at(page, start)
            edges = [start, *times[(times > start) & (times < end)].tolist(), end]
            begun, text = start, int(history.texts[first])
            known = number == 0 and start <= collection.enters[member.site]
            for edge in edges[1:]:
                version = collection.version_at(page, edge)
                new = int(history.texts[version])
                if edge != end and new == text:
                    continue
                if known or text in seen:
                    free += weight * (edge - begun)
                else:
                    periods.append(weight * (edge - begun))
                seen.add(text)
                known, begun, text = False, edge, new
    bought = np.sort(np.array(periods))[::-1][: int(budget)]
    return float((free + bought.sum()) / total) if total else 0.0
