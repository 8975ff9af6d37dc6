"""How open a site is: which share of the links within it leads where no page of it has led before.

Sites of people close: their pages lead to each other, so that after a few of them most links are old acquaintances. A site that
is written as fast as it is read stays open. It may say something new on every page, in any words, under any URLs: that each
page leads to pages that nothing else leads to is what makes it endless. Of the sites of real webs with a dozen fetched pages
nine of ten have a share below 0.4, departments of 1997 with a tree for each of their people up to 0.89; traps have 0.75 to 1.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable

from xxhash import xxh3_64_intdigest

from crawlproject.urls.hosts import domain_of

_PLACES = (1 << 27) - 1  # bits of the table of links, 16 MB; in a full one links look old, which is the harmless error
_LINKS = 100  # of a page within its site that are looked at
_PRIOR = 0.3  # the first page of a site has nothing but new links: it counts as this
_MEMORY = 30.0  # pages after which older ones fade
_SITES = 50_000  # sites that are remembered


class NewLinkRatio:
    """The registrable domains of a crawl. Told of each page that is kept; memory is bounded."""

    def __init__(self) -> None:
        self._seen = bytearray((_PLACES + 1) >> 3)
        self._sites: OrderedDict[str, tuple[float, int]] = OrderedDict()  # ratio, and pages

    def learn(self, url: str, links: Iterable[str]) -> float:
        """A page at ``url`` has ``links``, canonical URLs. How open its site is by now, 0 to 1."""
        own, here = domain_of(url), url[: url.index("/", 8) + 1]
        # A URL has the name of its site in it: the others need not be taken apart.
        inside = [
            link for link in dict.fromkeys(links) if link.startswith(here) or (own in link and domain_of(link) == own)
        ]
        self._new_among((url,))
        new = self._new_among(inside[:_LINKS])
        new_link_ratio, pages = self._sites.pop(own, (_PRIOR, 0))
        if inside:
            share = new / min(len(inside), _LINKS)
            if pages:
                new_link_ratio += (share - new_link_ratio) / min(pages + 1, _MEMORY)
            pages += 1
        self._sites[own] = new_link_ratio, pages
        if len(self._sites) > _SITES:
            self._sites.popitem(last=False)
        return new_link_ratio

    def _new_among(self, urls: Iterable[str]) -> int:
        """How many of ``urls`` are seen for the first time; from now on they are seen."""
        seen, new = self._seen, 0
        for url in urls:
            place = xxh3_64_intdigest(url.encode()) & _PLACES
            bit = 1 << (place & 7)
            place >>= 3
            if not seen[place] & bit:
                seen[place] |= bit
                new += 1
        return new
