"""The hostile web: good sites, and for every two of them three sites that are a trap or spam, each without end.

The web is made from a seed number; a page is generated when it is requested, and the same seed gives the same bytes. The good
part is the same with and without the bad part, apart from links into the bad part, so that a crawl of both shows what the bad
part costs. This package knows nothing of the crawler's defences, and the crawler knows nothing of this package.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from random import Random

from benchmarks.hostile_web import detours, endless, forged, markup, prose, spam, traps, walls
from benchmarks.hostile_web.bad import THROWAWAY, Answer, BadSite
from benchmarks.hostile_web.good import GoodPart, make_sites
from benchmarks.hostile_web.markup import A
from crawlproject.records import Reply
from crawlproject.webs.base import not_held, spellings

FIRST: Mapping[str, Answer] = {
    "calendar": traps.calendar,
    "sessions": traps.sessions,
    "facets": traps.facets,
    "growing_paths": traps.growing_paths,
    "mirrors": traps.mirrors,
    "soft_404": walls.soft_404,
    "parked": walls.parked,
    "walled": walls.walled,
    "link_farm": spam.link_farm,
    "stuffed": spam.stuffed,
    "hidden_text": spam.hidden_text,
    "redirects": spam.redirects,
}
# Written without knowledge of the defences, after these were finished; used afterwards to improve the defences.
SECOND: Mapping[str, Answer] = {
    "searches": endless.searches,
    "variants": endless.variants,
    "mazes": detours.mazes,
    "loops": detours.loops,
    "content_farm": forged.content_farm,
    "doorways": forged.doorways,
    "guestbooks": forged.guestbooks,
    "fresh_paths": forged.fresh_paths,
    "cloaked": forged.cloaked,
}
# Written together with SECOND, but held out longer: only the results for swarms were used, and after the others were measured.
THIRD: Mapping[str, Answer] = {
    "wiki": endless.wiki,
    "shuffles": endless.shuffles,
    "logins": detours.logins,
    "swarms": forged.swarms,
    "generated": forged.generated,
}
GROUPS: Mapping[str, Sequence[str]] = {
    "first": tuple(FIRST),
    "second": tuple(SECOND),
    "third": tuple(THIRD),
    "all": (*FIRST, *SECOND, *THIRD),
}
KINDS: Mapping[str, Answer] = {**FIRST, **SECOND, **THIRD}
_WITH_NAMES_BELOW = frozenset({"parked", "doorways"})
GOOD_HOSTS = 400
SHARE = 0.6  # of the hosts that are bad
LITTERED = 0.45  # of good pages, which carry comment spam: links to bad sites
DEFAULT_SEED = 2010
_THROWN = re.compile(r"(\d{7,9})\.(?:example|test)$")
_ROBOT = re.compile(r"bot|crawl|spider|slurp|scrapy|archiv", re.IGNORECASE)


class HostileWeb:
    """``good`` good hosts, and bad hosts of ``kinds`` (default: the first twelve), so many that ``share`` of all hosts are bad.

    ``share`` 0 means no bad hosts. ``urls`` lists the good pages only: the bad ones have no end. Raises ``KeyError`` for an
    unknown kind, and ``ValueError`` for a share outside [0, 1).
    """

    warnings: Sequence[str] = ()

    def __init__(
        self,
        *,
        seed: int = DEFAULT_SEED,
        good: int = GOOD_HOSTS,
        share: float = SHARE,
        kinds: Sequence[str] = tuple(FIRST),
    ) -> None:
        if not 0.0 <= share < 1.0:
            raise ValueError(f"a share of hosts is in [0, 1), got {share!r}")
        self.kinds = tuple(kinds)
        self._answers = {kind: KINDS[kind] for kind in kinds}
        sites = make_sites(good, seed)
        self._bad = self._make_bad(round(good * share / (1 - share)), seed)
        self._by_host = {site.host: site for site in self._bad}
        self._by_theme = {
            theme.key: [site for site in self._bad if site.theme == theme.key] or self._bad for theme in prose.THEMES
        }
        self._homes = [site.home for site in sites]
        self.good = GoodPart(sites, self._litter)

    @property
    def hosts(self) -> tuple[int, int]:
        """Numbers of good and bad hosts; parked domains and doorways have more hosts below them, swarms have more domains."""
        return len(self._homes), len(self._bad)

    @property
    def bad_sites(self) -> Sequence[BadSite]:
        """All bad sites of this web."""
        return self._bad

    def kind_of(self, host: str) -> str:
        """The kind of a bad host, or of the bad site that the host is below or belongs to; empty for a good host."""
        site = self._site(host)
        return site.kind if site else ""

    def seeds(self, theme: str, count: int, seed: int = 0) -> list[str]:
        """Draw ``count`` articles about a theme as seeds of a crawl."""
        articles = sorted(self.good.articles(theme))
        return Random(f"seeds {seed}").sample(articles, count)

    def get(self, url: str) -> Reply:
        for name in spellings(url):
            if (body := self.good.body(name)) is not None:
                return Reply(url, 200, {"content-type": "text/html; charset=utf-8"}, body)
            host, _, rest = name.removeprefix("http://").partition("/")
            site = self._site(host)
            if site is not None and name.startswith("http://"):
                path, _, query = f"/{rest}".partition("?")
                if path == "/robots.txt":
                    return not_held(url)
                return self._answers[site.kind](site, url, path, query)
        return not_held(url)

    def get_as(self, url: str, agent: str) -> Reply:
        """Like ``get`` for a crawler; a browser sees the pages behind cloaked ones. ``agent`` is a User-Agent header."""
        reply = self.get(url)
        host, _, rest = url.removeprefix("http://").partition("/")
        site = self._site(host)
        if site is None or site.kind != "cloaked" or reply.status != 200 or not _is_browser(agent):
            return reply
        path, _, query = f"/{rest}".partition("?")
        return forged.unmasked(site, url, path, query)

    def urls(self) -> Iterator[str]:
        return self.good.urls()

    def __contains__(self, url: str) -> bool:
        return self.get(url).status != 404

    def close(self) -> None:
        """Do nothing: no resource is held open."""

    def _make_bad(self, count: int, seed: int) -> list[BadSite]:
        rng = Random(f"bad sites {seed}")
        kinds, made = list(self._answers), []
        themes = [theme.key for theme in prose.THEMES] + ["coral"] * 2
        for number in range(count if kinds else 0):
            host = (
                f"{rng.choice(('www.', '', 'the-'))}{prose.name(rng)}{1000 + number}.{rng.choice(('example', 'test'))}"
            )
            kind = kinds[number % len(kinds)]
            layout = rng.choice(markup.LAYOUTS)
            made.append(
                BadSite(host, kind, rng.choice(themes), layout, f"{seed} {host}", self._friend, self._quote, number)
            )
        return made

    def _site(self, host: str) -> BadSite | None:
        """The bad site of a host; some sites answer for every name below theirs, and swarms for endless domains."""
        site = self._by_host.get(host)
        if site is None and "." in host:
            above = self._by_host.get(host.partition(".")[2])
            site = above if above is not None and above.kind in _WITH_NAMES_BELOW else None
        if site is None and (thrown := _THROWN.search(host)):
            number = int(thrown[1]) % THROWAWAY
            site = self._bad[number] if number < len(self._bad) and self._bad[number].kind == "swarms" else None
        return site

    def _quote(self, theme: str, rng: Random) -> str:
        return self.good.quote(theme, rng)

    def _friend(self, rng: Random) -> A:
        """A link out of a bad site: to another bad site, or sometimes to a good site, to look better."""
        if rng.random() < 0.1:
            home = rng.choice(self._homes)
            return A(home, home)
        return self._lure(rng.choice(self._bad), rng)

    def _lure(self, site: BadSite, rng: Random) -> A:
        return A(site.home if rng.random() < 0.4 else site.url(rng), prose.phrase(site.theme, rng))

    def _litter(self, url: str, theme: str, rng: Random) -> list[A]:
        """Links to bad sites that pretend to be about the theme of the page."""
        if not self._bad or rng.random() >= LITTERED:
            return []
        sites = self._by_theme[theme]
        return [self._lure(rng.choice(sites), rng) for _ in range(rng.choice((1, 1, 2, 3)))]


def _is_browser(agent: str) -> bool:
    """Whether a cloaking site takes a visitor for a person."""
    return agent.startswith("Mozilla/") and not _ROBOT.search(agent)
