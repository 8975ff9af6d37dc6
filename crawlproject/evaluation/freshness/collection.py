"""The pages of several sites on one time axis: all records end together, so the last year of each site is one year for all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from crawlproject.evaluation.freshness.histories import PageHistory, SiteHistory, section_of
from crawlproject.parts.revisits.allocation import SECONDS_A_DAY, Array

WEEK = 7 * SECONDS_A_DAY  # sites are moved by whole weeks: hour and weekday of a change stay


@dataclass(frozen=True, slots=True)
class Member:
    """A page of the collection. ``shift``: seconds to add to the times of its history. ``section`` numbers its site and
    folder."""

    history: PageHistory
    site: int
    section: int
    shift: float
    id: int


class SiteCollection:
    """The pages of ``sites`` in the ``days`` before ``end``, the latest end of a record.

    Times are seconds since the epoch, moved by whole weeks a site. A site with a shorter record enters later (``enters``) and
    leaves up to a week before the end (``leaves``). ``weights``: what each page is worth, 1 by default.
    """

    def __init__(self, sites: Sequence[SiteHistory], *, days: float = 365) -> None:
        self.sites = list(sites)
        self.end = max(site.end for site in sites)
        self.start = self.end - days * SECONDS_A_DAY
        shifts = [float((self.end - site.end) // WEEK) * WEEK for site in sites]
        self.enters = [max(self.start, site.start + shift) for site, shift in zip(sites, shifts, strict=True)]
        self.leaves = [site.end + shift for site, shift in zip(sites, shifts, strict=True)]
        sections: dict[tuple[int, str], int] = {}
        self.members: list[Member] = []
        self.first: list[int] = []  # index of the first page of each site
        for number, (site, shift) in enumerate(zip(sites, shifts, strict=True)):
            self.first.append(len(self.members))
            for page_id, page in enumerate(site.pages):
                section = sections.setdefault((number, section_of(page.url)), len(sections))
                self.members.append(Member(page, number, section, shift, page_id))
        self.weights: Array = np.ones(len(self.members))

    def weigh_by_links(self) -> None:
        """Weights in proportion to 1 + the pages that link to a page when its site enters; their mean is 1."""
        for index, member in enumerate(self.members):
            version = self.version_at(index, max(self.enters[member.site], member.history.born + member.shift))
            for target in member.history.links[version]:
                self.weights[self.first[member.site] + target] += 1
        self.weights /= self.weights.mean()

    def exists(self, index: int, time: float) -> bool:
        member = self.members[index]
        return time < self.leaves[member.site] and member.history.exists(time - member.shift)

    def version_at(self, index: int, time: float) -> int:
        member = self.members[index]
        return member.history.version_at(time - member.shift)

    def lives(self, index: int) -> list[tuple[float, float]]:
        """Periods in which a page exists, from its site's entry until the end of its record; in order."""
        member = self.members[index]
        now, periods = max(self.enters[member.site], member.history.born + member.shift), []
        end = self.leaves[member.site]
        for start, until in sorted(member.history.gone):
            if now < min(start + member.shift, end):
                periods.append((now, min(start + member.shift, end)))
            now = max(now, until + member.shift)
        return [*periods, (now, end)] if now < end else periods

    def live_pages(self, times: Array) -> Array:
        """How many pages exist at each of these times."""
        change = np.zeros(len(times) + 1)
        for index in range(len(self.members)):
            for start, end in self.lives(index):
                first, last = np.searchsorted(times, (start, end))
                change[first] += 1
                change[last] -= 1
        return change.cumsum()[:-1]
