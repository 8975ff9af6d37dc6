"""How open a site is: which share of the links within it leads where no page of it has led before.

Sites of people close: their pages lead to each other, so that after a few of them most links are old acquaintances. A site that
is written as fast as it is read stays open. It may say something new on every page, in any words, under any URLs: that each
page leads to pages that nothing else leads to is what makes it endless. Of the sites of real webs with a dozen fetched pages
nine of ten have a share below 0.4, departments of 1997 with a tree for each of their people up to 0.89; traps have 0.75 to 1.

What is never fetched says nothing: links that robots.txt or a rule forbids are not counted, nor are links that only do something
with the page that has them, such as the edit, history and login links of a wiki.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Callable, Iterable

from xxhash import xxh3_64_intdigest

from crawlproject.urls.hosts import domain_of

_PLACES = (1 << 27) - 1  # bits of the table of links, 16 MB; in a full one links look old, which is the harmless error
_LINKS = 100  # of a page within its site that are looked at
_PRIOR = 0.3  # the first page of a site has nothing but new links: it counts as this
_MEMORY = 30.0  # pages after which older ones fade
_SITES = 50_000  # sites that are remembered
_CLOSED = 0.4  # ratio up to which it does not matter which links count: to ask of each costs more than to learn

# In a query, or as the last word of a path: what wikis, forums and repositories offer beside each page.
_ACTION = re.compile(
    r"[?&;](?:action|do|cmd|oldid|diff|rev|returnto|redlink|replytocom|printable|veaction)="
    r"|/(?:edit|history|login|signin|register|logout|reply|quote|report|share|print|diff|revisions|raw|blame|talk)/?(?:[?#]|$)"
    r"|/(?:Special|Talk|User):",
    re.IGNORECASE,
)


def is_action(url: str) -> bool:
    """Whether a URL, by its words, only does something with another page."""
    return _ACTION.search(url) is not None


class NewLinkRatio:
    """The registrable domains of a crawl. Told of each page that is kept; memory is bounded."""

    def __init__(self) -> None:
        self._seen = bytearray((_PLACES + 1) >> 3)
        self._sites: OrderedDict[str, tuple[float, int]] = OrderedDict()  # ratio, and pages

    def learn(self, url: str, links: Iterable[str], counts: Callable[[str], bool] = lambda link: True) -> float:
        """A page at ``url`` has ``links``, canonical URLs, of which those count for which ``counts`` says so.

        How open its site is by now, 0 to 1.
        """
        own, here = domain_of(url), url[: url.index("/", 8) + 1]
        # A URL has the name of its site in it: the others need not be taken apart.
        inside = [
            link for link in dict.fromkeys(links) if link.startswith(here) or (own in link and domain_of(link) == own)
        ]
        self._new_among((url,))
        new_link_ratio, pages = self._sites.pop(own, (_PRIOR, 0))
        if new_link_ratio > _CLOSED:
            inside = [link for link in inside[: 2 * _LINKS] if counts(link) and not is_action(link)]
        new = self._new_among(inside[:_LINKS])
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
