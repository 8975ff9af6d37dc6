"""A generated web that changes over time: texts, links, new pages, moves, deletions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from email.utils import formatdate
from hashlib import md5
from pathlib import Path
from random import Random

from crawlproject.records import Reply
from crawlproject.storage.logs import read_changes
from crawlproject.storage.read import read_visits
from crawlproject.webs.base import not_held
from crawlproject.webs.sample import SampleWeb
from crawlproject.webs.sample.plan import SamplePage
from crawlproject.webs.sample.render import text_of

LAG = 20.0  # seconds that a busy machine may take to record a fetch
SPAN = 30.0  # seconds over which a web changes that is crawled over sockets
DELAY = 0.02  # seconds between two fetches of a host of that web
REVISITING: dict[str, object] = {
    "CRAWL_REVISIT": "uniform",
    "CRAWL_RATE": 100 * 3600,
    "CRAWL_REVISIT_MIN": 1.0,
    "CRAWL_NEW_SHARE": 0.3,
    "CRAWL_SITE_BUDGET": 0,
    "POLITENESS_MIN_DELAY": DELAY,
    "PAGE_DUPLICATES": False,
}


@dataclass
class ChangingPage:
    """``changes`` are the times of its versions. It appears at ``born``, and may be ``gone`` later or move to ``target``."""

    url: str
    sample: SamplePage
    born: float
    changes: list[float] = field(default_factory=list)
    gone: float = float("inf")
    moved: float = float("inf")
    target: str = ""

    def version(self, now: float) -> int:
        return 1 + sum(at <= now for at in self.changes)


class ChangingWeb:
    """``sites`` with a front page and ``pages`` pages each, in their state at ``clock()``, from ``start`` over ``span`` seconds.

    A third of the pages never change, a third now and then, a sixth often; sometimes a whole site changes. On each site one
    page disappears, one moves, and some are added over time; front pages link to all existing pages. Every page shows
    the time of its request. Servers send entity tags, dates, or nothing. ``lifetimes`` is what servers say about the next
    change: ``honest``, ``useless`` (at once), ``lying`` (in a year), ``short`` (in six hours); else nothing.
    """

    warnings: Sequence[str] = ()

    def __init__(
        self,
        clock: Callable[[], float],
        *,
        start: float,
        span: float,
        sites: int = 10,
        pages: int = 29,
        seed: int = 7,
        lifetimes: str = "",
    ) -> None:
        self.clock = clock
        self.lifetimes = lifetimes
        self.start = start
        random = Random(seed)
        samples = [page for page in SampleWeb().plan.pages.values() if page.kind == "article"]
        self.pages: dict[str, ChangingPage] = {}
        self._of_site: dict[str, list[ChangingPage]] = {}
        for number in range(sites):
            origin = f"http://www.changing{number}.example/"
            rebuilt = sorted(start + random.uniform(0.1, 0.8) * span for _ in range(number % 3))
            own: list[ChangingPage] = []
            for n in range(pages):
                page = ChangingPage(f"{origin}page{n}", random.choice(samples), start)
                times = (0, 0, 1, 2, 8)[n % 5]
                page.changes = [start + random.uniform(0.05, 0.8) * span for _ in range(times)]
                page.changes = sorted({*page.changes, *rebuilt}) if n % 2 else sorted(page.changes)
                own.append(page)
            for page in own[-4:]:
                page.born, page.changes = start + random.uniform(0.1, 0.6) * span, []
            own[1].gone = start + random.uniform(0.1, 0.6) * span
            own[2].moved, own[2].target = start + random.uniform(0.1, 0.6) * span, f"{origin}moved2"
            own.append(ChangingPage(own[2].target, own[2].sample, own[2].moved))
            own[1].changes = own[2].changes = []
            front = ChangingPage(origin, random.choice(samples), start)
            self._of_site[origin] = own
            self.pages |= {page.url: page for page in (front, *own)}

    @property
    def articles(self) -> set[str]:
        """All pages but the front pages, whose text changes with the pages that they list."""
        return set(self.pages) - set(self._of_site)

    @property
    def seeds(self) -> list[str]:
        return list(self._of_site)

    def get(self, url: str) -> Reply:
        now = self.clock()
        page = self.pages.get(url)
        if page is None or now < page.born or now >= page.gone:
            return not_held(url)
        if now >= page.moved:
            return Reply(url, 301, {"location": page.target})
        body = self._body(page, now)
        headers = {"content-type": "text/html; charset=utf-8"}
        kind = len(url) % 3
        version = f"{page.version(now)} {len(self._links(page, now))}"
        if kind == 0:
            headers["etag"] = f'"{md5(f"{url} {version}".encode()).hexdigest()}"'
        elif kind == 1 and url not in self._of_site:
            headers["last-modified"] = formatdate(
                max([page.born, *[at for at in page.changes if at <= now]]), usegmt=True
            )
        if self.lifetimes:
            headers["cache-control"] = f"public, max-age={self._lifetime(page, now)}"
        return Reply(url, 200, headers, body)

    def _lifetime(self, page: ChangingPage, now: float) -> int:
        if self.lifetimes == "honest":
            coming = [at for at in (*page.changes, page.gone, page.moved) if at > now]
            return int(min([*coming, now + 1e9]) - now) + 1
        return {"useless": 0, "lying": 31_536_000, "short": 21_600}[self.lifetimes]

    def _links(self, page: ChangingPage, now: float) -> list[str]:
        own = self._of_site.get(page.url)
        if own is None:
            return [page.url.rpartition("/")[0] + "/"]
        return [other.url for other in own if other.born <= now < min(other.gone, other.moved)]

    def _body(self, page: ChangingPage, now: float) -> bytes:
        sections = text_of(page.sample, Random(f"{page.url} {page.version(now)}"))
        text = "".join(f"<p>{paragraph}</p>" for section in sections for paragraph in section.paragraphs)
        links = "".join(f'<li><a href="{url}">{url.rpartition("/")[2] or "home"}</a>' for url in self._links(page, now))
        asked = formatdate(now, usegmt=True)
        title = f"{page.sample.title}, {page.url}"
        return f"<!doctype html><html lang=en><title>{title}</title><h1>{title}</h1>{text}<ul>{links}</ul><p>{asked}".encode()

    def urls(self) -> Iterator[str]:
        return iter(self.pages)

    def __contains__(self, url: str) -> bool:
        return url in self.pages

    def close(self) -> None:
        """Do nothing: nothing is held open."""


def untold(web: ChangingWeb, folder: Path, now: float) -> dict[str, set[str]]:
    """The changes of the web that the folder misses or reports wrongly, by kind."""
    visits = list(read_visits(folder))
    stored = {visit.url: visit.at for visit in reversed(visits) if visit.number == 1 and visit.md5}
    told: dict[str, set[str]] = {kind: set() for kind in ("changed", "missing", "gone", "moved", "back")}
    for change in read_changes(folder):
        told[change.change].add(change.url)
    known = [page for page in web.pages.values() if page.url in stored]

    def happened(slack: float) -> dict[str, set[str]]:
        """The changes after the server sent the first version, up to ``slack`` seconds before the crawl recorded it."""
        return {
            "missing": {page.url for page in known if stored[page.url] - slack < page.gone < now},
            "moved": {page.url for page in known if stored[page.url] - slack < page.moved < now},
            "changed": {page.url for page in known if any(stored[page.url] - slack < at < now for at in page.changes)},
        }

    surely, perhaps = happened(0.0), happened(LAG)
    found = {kind: (surely[kind] - told[kind]) | (told[kind] - perhaps[kind]) for kind in surely}
    found["changed"] -= set(web.seeds)  # front pages change with what they list
    found["new"] = {page.url for page in web.pages.values() if page.born < now < min(page.gone, page.moved)} - set(
        stored
    )
    return {kind: urls for kind, urls in found.items() if urls}
