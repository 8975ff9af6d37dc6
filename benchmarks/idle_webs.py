"""Webs with natural text for `idle.py`: sites with links that robots.txt forbids, wikis, one large host, shared servers, a swarm.

A page consists of paragraphs drawn at random from one pool, so that no two pages are equal and some share a paragraph. Its
links to forbidden pages have the same labels everywhere, like the tools of a wiki. Everything is made from the URL alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from random import Random
from typing import Literal
from urllib.parse import parse_qs, urlsplit

from benchmarks.endless import TOPIC, vocabulary
from crawlproject.webs.base import Reply, not_held

HTML = {"content-type": "text/html; charset=utf-8"}
ANSWER = 0.02  # seconds
ANY_LENGTH = (2, 3, 6)  # paragraphs; short pages have mostly their list of links in common
SAME_HOST = 0.7  # of the links
FRONT = 20  # pages of a host that get more links, as pages in a menu do
NETWORK = "198.51.100"  # of the ten servers: documentation addresses (RFC 5737), not loopback

SWARM = ".swarm.example"
SWARM_LINKS = 20

Actions = Literal["forbidden", "empty", "refused"]


@dataclass(frozen=True)
class Sites:
    """``hosts`` hosts of ``pages`` pages each below ``domain``; a host rests for ``rest`` seconds between visits.

    ``forbidden`` is the number of links of each page that robots.txt forbids. ``wiki``: pages link to their own edit, history,
    diff, login and reply pages, which robots.txt forbids, which exist but are nearly empty, or which are refused. ``servers``:
    number of addresses that serve the hosts, 0 for one each. ``swarm``: each page also links to a host of a domain whose every
    name answers, with random text on the topic and links to more such names; these hosts do not count in ``hosts``.
    """

    hosts: int
    pages: int = 400
    domain: str = "university.example"
    links: int = 18
    forbidden: int = 0
    wiki: Actions | None = None
    servers: int = 0
    swarm: bool = False
    rest: float = 1.0
    answer: float = ANSWER
    paragraphs: tuple[int, ...] = (6,)  # number of paragraphs of a page: one of these, drawn at random

    warnings: Sequence[str] = ()

    def host(self, number: int) -> str:
        if self.servers:  # ten registrable domains a server: fewer than a content network has
            return f"h{number}.hoster{number % self.servers}-{number // self.servers % 10}.example"
        return f"h{number}.{self.domain}"

    @property
    def seeds(self) -> list[str]:
        return [f"http://{self.host(number)}/" for number in range(self.hosts)]

    @property
    def ideal(self) -> float:
        """Fetches a second of a crawl that never lets a host wait longer than necessary."""
        return (self.servers or self.hosts) / (self.answer + self.rest)

    @property
    def addresses(self) -> Mapping[str, str]:
        """The address of each host; empty without ``servers``."""
        return {
            self.host(number): f"{NETWORK}.{number % self.servers + 1}" for number in range(self.hosts) if self.servers
        }

    def get(self, url: str) -> Reply:
        parts = urlsplit(url)
        if self.swarm and parts.netloc.endswith(SWARM):
            return Reply(url, 200, HTML, _swarming(url), self.answer)
        if (number := self._numbers.get(parts.netloc)) is None:
            return not_held(url)
        if parts.path == "/robots.txt":
            rules = f"User-agent: *\nDisallow: /private/\n{'Disallow: /w/' if self.wiki == 'forbidden' else ''}\n"
            return Reply(url, 200, {"content-type": "text/plain"}, rules.encode(), self.answer)
        if parts.path.startswith("/w/") and self.wiki:
            return self._action(url, parts.query)
        if parts.path.startswith("/private/"):
            return Reply(url, 403, HTML, b"<title>Forbidden</title>", self.answer)
        page = _page_of(parts.path)
        if page is None or page >= self.pages or parts.query:
            return not_held(url)
        return Reply(url, 200, HTML, _body(self, number, page), self.answer)

    def is_useful(self, url: str) -> bool:
        """Whether the URL is that of a page with a unique text."""
        parts = urlsplit(url)
        return parts.netloc in self._numbers and _page_of(parts.path) is not None and not parts.query

    def path(self, page: int) -> str:
        """The path of a page, the same on any host."""
        words = _words()
        name = f"{words[page % 997].capitalize()}_{words[1_000 + page]}"
        if not page:
            return "/"
        return (
            f"/wiki/{name}_{page}" if self.wiki else f"/{words[page % 12]}/{name.lower().replace('_', '-')}-{page}.html"
        )

    def _action(self, url: str, query: str) -> Reply:
        asked = {key: values[0] for key, values in parse_qs(query).items()}
        title, action = asked.get("title", ""), asked.get("action", "")
        if self.wiki == "refused" and action != "login":
            return Reply(url, 403, HTML, b"<title>Permission error</title><p>You may not do this.</p>", self.answer)
        back = f'<a href="/wiki/{title}">{title}</a>'
        text = "Log in to go on." if action in ("edit", "login", "reply") else "Nothing to show."
        if action == "history":  # links to three versions of the page
            text = "".join(
                f'<li><a href="/w/index.php?title={title}&amp;oldid={n}">{n}</a></li>' for n in range(101, 104)
            )
        return Reply(url, 200, HTML, f"<title>{action} {title}</title><p>{back}</p>{text}".encode(), self.answer)

    @property
    def _numbers(self) -> Mapping[str, int]:
        return _host_numbers(self)

    def urls(self) -> Iterator[str]:
        return iter(self.seeds)

    def __contains__(self, url: str) -> bool:
        return self.get(url).status == 200

    def close(self) -> None:
        """Do nothing: no resource is held open."""


NATURAL: Mapping[str, Sites] = {
    "forbidden_5": Sites(40, links=6, forbidden=5, paragraphs=ANY_LENGTH),
    "forbidden_100": Sites(40, links=6, forbidden=100, paragraphs=ANY_LENGTH),
    "wiki_forbidden": Sites(10, domain="wikis.example", wiki="forbidden"),
    "wiki_forbidden_1": Sites(1, pages=3_000, domain="wiki.example", wiki="forbidden", rest=0.25),
    "wiki_empty": Sites(10, domain="wikis.example", wiki="empty"),
    "wiki_empty_1": Sites(1, pages=3_000, domain="wiki.example", wiki="empty", rest=0.25),
    "wiki_refused": Sites(10, domain="wikis.example", wiki="refused"),
    "wiki_refused_1": Sites(1, pages=3_000, domain="wiki.example", wiki="refused", rest=0.25),
    "large": Sites(1, pages=3_000, domain="large.example"),
    "large_fast": Sites(1, pages=3_000, domain="large.example", rest=0.25),
    "swarm": Sites(10, swarm=True),
    "addresses": Sites(500, pages=40, servers=10),
}


def _page_of(path: str) -> int | None:
    """The number of a page, from the end of its path."""
    number = path.removesuffix(".html").replace("_", "-").rpartition("-")[2]
    return 0 if path == "/" else int(number) if number.isdecimal() else None


@lru_cache(maxsize=20_000)
def _body(web: Sites, host: int, page: int) -> bytes:
    random = Random(blake2b(f"{web.host(host)} {page}".encode(), digest_size=8).digest())
    words, paragraphs = _words(), _paragraphs()
    title = f"{web.path(page).strip('/') or 'home'} {random.choice(TOPIC)} {' '.join(random.choices(words, k=3))}"
    parts = [f"<!doctype html><html lang=en><title>{title}</title><h1>{title}</h1>"]
    most = web.paragraphs[0] if len(web.paragraphs) == 1 else random.choice(web.paragraphs)
    texts = random.sample(range(len(paragraphs)), most)
    for number, text in enumerate(texts):
        parts.append(f"<h2>{' '.join(random.choices(words, k=3))}</h2>{_edit(web, page, number)}<p>{paragraphs[text]}")
        links = (_link(web, host, random) for _ in range(web.links // most))
        parts.append(f" {' '.join(links)}</p>")
    if web.forbidden:
        labels = words[2_000 : 2_000 + web.forbidden]
        items = (f'<li><a href="/private/{page}/{n}">{label}</a></li>' for n, label in enumerate(labels))
        parts.append(f"<ul>{''.join(items)}</ul>")
    if web.wiki:
        parts.append(_tools(web, page))
    if web.swarm:
        parts.append(_to_swarm(random))
    return "".join(parts).encode()


def _swarming(url: str) -> bytes:
    random = Random(blake2b(url.encode(), digest_size=8).digest())
    title = f"{' '.join(random.choices(TOPIC, k=2))} {random.choice(_words())}"
    text = " ".join(random.choices([*_words(), *TOPIC * 200], k=200))
    links = " ".join(_to_swarm(random) for _ in range(SWARM_LINKS))
    return f"<!doctype html><html lang=en><title>{title}</title><h1>{title}</h1><p>{text}</p>{links}".encode()


def _to_swarm(random: Random) -> str:
    words = " ".join([random.choice(TOPIC), *random.choices(_words(), k=2)])
    return f'<a href="http://{random.getrandbits(40):x}{SWARM}/{random.choice(_words())}.html">{words}</a>'


def _link(web: Sites, host: int, random: Random) -> str:
    to = host if random.random() < SAME_HOST else random.randrange(web.hosts)
    page = random.randrange(FRONT if random.random() < 0.3 else web.pages)
    text = " ".join(random.choices(_words(), k=3))
    return f'<a href="http://{web.host(to)}{web.path(page)}">{text}</a>'


def _edit(web: Sites, page: int, section: int) -> str:
    if not web.wiki:
        return ""
    return f'<a href="/w/index.php?title={_title(web, page)}&amp;action=edit&amp;section={section}">edit</a>'


def _tools(web: Sites, page: int) -> str:
    start = f"/w/index.php?title={_title(web, page)}"
    tools = {
        "Edit": f"{start}&amp;action=edit",
        "View history": f"{start}&amp;action=history",
        "Last change": f"{start}&amp;diff=prev&amp;oldid={page + 5_000}",
        "Log in": f"/w/index.php?title=Special:UserLogin&amp;action=login&amp;returnto={_title(web, page)}",
        "Reply": f"{start}&amp;action=reply&amp;comment=1",
        "Reply to this": f"{start}&amp;action=reply&amp;comment=2",
    }
    return "".join(f'<li><a href="{href}">{label}</a></li>' for label, href in tools.items())


def _title(web: Sites, page: int) -> str:
    return web.path(page).rpartition("/")[2] or "Main_Page_0"


@lru_cache
def _host_numbers(web: Sites) -> Mapping[str, int]:
    return {web.host(number): number for number in range(web.hosts)}


@lru_cache
def _words() -> list[str]:
    return vocabulary(5_000)


@lru_cache
def _paragraphs() -> list[str]:
    """Paragraphs of 30 to 60 words drawn by Zipf's law; one paragraph in three is on the topic."""
    random, words = Random(3), _words()
    weights = [1 / (rank + 10) for rank in range(len(words))]
    made = []
    for _ in range(600):
        chosen = random.choices(words, weights, k=random.randint(30, 60))
        if random.random() < 0.33:
            chosen[random.randrange(len(chosen))] = random.choice(TOPIC)
        made.append(" ".join(chosen).capitalize() + ".")
    return made
