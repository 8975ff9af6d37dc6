"""Small hand-made webs, and helpers that read fetch logs."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from crawlproject.http.virtual_web_server import Access
from crawlproject.records import Reply
from crawlproject.webs.base import not_held, spellings

HTML = {"content-type": "text/html; charset=utf-8"}


class DictWeb:
    """A web of the given replies; all other URLs return 404."""

    warnings: Sequence[str] = ()

    def __init__(self, replies: Mapping[str, Reply]) -> None:
        self.replies = dict(replies)

    def get(self, url: str) -> Reply:
        return next((self.replies[name] for name in spellings(url) if name in self.replies), not_held(url))

    def urls(self) -> Iterator[str]:
        return iter(self.replies)

    def __contains__(self, url: str) -> bool:
        return self.get(url).status != 404

    def close(self) -> None:
        return None


class NamingWeb(DictWeb):
    """A web whose pages name the requesting agent."""

    def get_as(self, url: str, agent: str) -> Reply:
        return Reply(url, 200, HTML, f"<p>for {agent}".encode())


def html(*links: str, text: str = "", title: str = "A page") -> bytes:
    """A page with these links, each in a separate paragraph."""
    paragraphs = "".join(f'<p>{text} <a href="{link}">{text or "link"}</a></p>' for link in links)
    return f"<!doctype html><title>{title}</title><body><p>{text}</p>{paragraphs}</body>".encode()


def page(url: str, *links: str, text: str = "", seconds: float = 0.0) -> tuple[str, Reply]:
    """An entry of a ``DictWeb``."""
    return url, Reply(url, 200, HTML, html(*links, text=text, title=url), seconds)


def robots(origin: str, rules: str, status: int = 200) -> tuple[str, Reply]:
    """An entry of a ``DictWeb`` for the robots.txt of an origin."""
    url = f"{origin}/robots.txt"
    return url, Reply(url, status, {"content-type": "text/plain"}, rules.encode())


class OverloadedWeb(DictWeb):
    """Answers the first request for each of ``urls`` with a 503 whose ``Retry-After`` is ``seconds``."""

    def __init__(self, replies: Mapping[str, Reply], urls: Iterable[str], seconds: int) -> None:
        super().__init__(replies)
        self._overloaded = set(urls)
        self._seconds = seconds

    def get(self, url: str) -> Reply:
        if url in self._overloaded:
            self._overloaded.discard(url)
            return Reply(url, 503, {**HTML, "retry-after": str(self._seconds)}, b"later")
        return super().get(url)


def host_farm(hosts: int, pages: int, *, seconds: float = 0.0, rules: str = "") -> DictWeb:
    """``hosts`` hosts with ``pages`` pages each: a portal links to every host, each front page to the host's pages."""
    entries = dict([page("http://portal.example/", *(f"http://h{h}.example/" for h in range(hosts)), text="reef")])
    for h in range(hosts):
        origin = f"http://h{h}.example"
        inner = [f"{origin}/p{p}" for p in range(pages - 1)]
        entries |= dict([page(f"{origin}/", *inner, text="reef", seconds=seconds)])
        entries |= dict(page(url, text="reef", seconds=seconds) for url in inner)
        if rules:
            entries |= dict([robots(origin, rules)])
    return DictWeb(entries)


def by_host(log: Iterable[Access]) -> dict[str, list[Access]]:
    """The requests to each host in order of their start."""
    found: dict[str, list[Access]] = defaultdict(list)
    for access in sorted(log, key=lambda access: access["start"]):
        found[access["host"]].append(access)
    return found


LATE = 0.002  # seconds by which the clocks of crawler and server may differ over a rest


def are_kept(gaps: Iterable[float], delay: float) -> bool:
    """Whether every gap is at least ``delay`` seconds, up to ``LATE``."""
    return min(gaps, default=delay) >= delay - LATE


def gaps(requests: Sequence[Access]) -> list[float]:
    """Seconds from the end of each request to the start of the next one; negative when they overlap."""
    return [later["start"] - earlier["end"] for earlier, later in itertools.pairwise(requests)]
