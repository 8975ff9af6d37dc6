"""The k rule, checked from outside: from the order of the fetches and the URLs that waited."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from crawlproject.urls.hosts import host_of


def hosts_of(urls: Iterable[str]) -> list[str]:
    """The host of each URL, in order."""
    return [host_of(url) for url in urls]


def broken_picks(picked: Sequence[str], waiting: Mapping[str, int], k: int, apart: int | None = None) -> list[int]:
    """Positions of picks whose host is among the ``k - 1`` picks before, although ``k`` or more hosts waited.

    ``waiting`` counts the URLs of each host that wait before the first pick; none may be added later. ``apart`` replaces
    ``k`` as the number of picks to compare, for an order that is known only roughly.
    """
    before = (apart or k) - 1
    left = Counter(waiting)
    broken = []
    for position, host in enumerate(picked):
        if len(left) >= k and host in picked[max(0, position - before) : position]:
            broken.append(position)
        left[host] -= 1
        if left[host] <= 0:
            del left[host]
    return broken


def picks_under_the_rule(picked: Sequence[str], waiting: Mapping[str, int], k: int) -> int:
    """How many picks were made while ``k`` or more hosts waited: the picks that ``broken_picks`` checks."""
    left, number = Counter(waiting), 0
    for host in picked:
        number += len(left) >= k
        left[host] -= 1
        if left[host] <= 0:
            del left[host]
    return number
