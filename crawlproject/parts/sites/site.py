"""A site as budgets know it: what was fetched of it, what that was worth, and how much of that is trusted."""

from __future__ import annotations

_PRIOR = 0.5  # mean worth of a site that nothing is known of
_PRIOR_PAGES = 2.0  # and how many pages would be needed to outweigh that
SPAM = 4.0  # worth that a page takes away which is nothing but spam: two of them are enough
_KNOWN = 5.0  # fetches from which on a site is known for what it is
_OPEN, _ENDLESS = 0.6, 0.85  # new-link ratio of a site that begins to look endless, and of one that does
_SURELY_OPEN = 0.95  # and of one that does, although a person named it: large sites of people reach 0.89
_WASTED = 0.25  # share of its fetches that may be wasted before
_HONEST_PAGES = 10.0  # that such a site is taken to have besides


class Site:
    """What was learned about a registrable domain."""

    __slots__ = ("distrust", "fetches", "links", "named", "new_link_ratio", "recommended", "wasted", "worth")

    def __init__(self) -> None:
        self.fetches = 0.0  # those that brought nothing count less
        self.worth = 0.0  # sum over its pages, each 0 to 1
        self.links: dict[str, float] = {}  # other sites that link here, each with the worth of its best link
        self.named = False  # by a person: it has a seed, or is among the allowed domains
        self.recommended = False  # it is named, or a seed links to it
        self.wasted = 0.0  # fetches of duplicates, spam, blocks and pages that say nothing new
        self.new_link_ratio = 0.0  # share of links within it that lead to new pages
        self.distrust = 0.0  # how far its pages count as spam, whatever they look like, 0 to 1

    @property
    def mean(self) -> float:
        """What a page of the site is expected to be worth, 0 to 1."""
        return self._mean(self.worth)

    @property
    def trusted_worth(self) -> float:
        """The worth of its pages, when they are spam as far as the site is distrusted."""
        return (1.0 - self.distrust) * self.worth - SPAM * self.distrust**2 * self.fetches

    @property
    def trusted_mean(self) -> float:
        """``mean``, as far as the site is trusted."""
        return self._mean(self.trusted_worth)

    @property
    def endless(self) -> float:
        """How far it looks endless, 0 to 1."""
        return ramp(self.new_link_ratio, _OPEN, _ENDLESS)

    @property
    def is_suspect(self) -> bool:
        """Whether there is evidence that it is a trap or a heap of copies, whoever named it."""
        wasted = self.wasted / (self.fetches + _HONEST_PAGES)
        return self.distrust > 0.0 or wasted > _WASTED or self.new_link_ratio > _SURELY_OPEN

    @property
    def single_source(self) -> bool:
        """Whether it is hardly known, only one other site links to it, and no person recommended that one."""
        return self.fetches < _KNOWN and len(self.links) < 2 and not self.recommended

    def _mean(self, worth: float) -> float:
        return max(0.0, (worth + _PRIOR * _PRIOR_PAGES) / (self.fetches + _PRIOR_PAGES))


def ramp(value: float, low: float, high: float) -> float:
    """0 up to ``low``, 1 from ``high`` on, straight between."""
    return min(1.0, max(0.0, (value - low) / (high - low)))
