"""Base of all bad sites: the links out of them, and the means by which they attract visitors."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from random import Random
from typing import Protocol

from benchmarks.hostile_web import markup, prose
from benchmarks.hostile_web.markup import A
from crawlproject.records import Reply

THROWAWAY = 9973  # the number in a throwaway domain's name modulo this is its owner's number


@dataclass(frozen=True)
class BadSite:
    """A host that tries to attract visits. ``theme`` is what it pretends to be about, or was about once.

    ``friends`` returns a link to another bad site, and ``quotes`` a paragraph of some good page about a theme. ``number`` is
    unique among the bad sites of a web.
    """

    host: str
    kind: str
    theme: str
    layout: str
    seed: str
    friends: Callable[[Random], A]
    quotes: Callable[[str, Random], str]
    number: int

    @property
    def home(self) -> str:
        return f"http://{self.host}/"

    @cached_property
    def style(self) -> Mapping[str, str]:
        """The words that this site uses: no two sites of a kind are written alike."""
        rng = Random(f"{self.seed} style")
        return {
            "folder": rng.choice(("view", "go", "item", "x", "page", "archive", "read", prose.name(rng))),
            "parameter": rng.choice(("id", "q", "p", "ref", "show", prose.name(rng))),
            "ending": rng.choice((".html", ".php", "", "/", ".htm")),
        }

    def rng(self, *what: object) -> Random:
        """A random generator for one page, or one part of the site, always with the same seed."""
        return Random(f"{self.seed} {what!r}")

    def word(self, rng: Random) -> str:
        return prose.word(self.theme, rng)

    def slug(self, rng: Random, words: int = 2) -> str:
        """Words of the theme in the form used in URLs."""
        text = "-".join(self.word(rng) for _ in range(words))
        return text.encode("ascii", "ignore").decode().strip("-").lower()

    def stolen(self, rng: Random) -> str:
        """A paragraph stolen from a good page."""
        return self.quotes(self.theme, rng)

    def throwaway(self, rng: Random) -> str:
        """Another domain of the same owner, out of a hundred million."""
        return f"{self.slug(rng, 1)}{rng.randrange(200, 90_000) * THROWAWAY + self.number}.{rng.choice(('example', 'test'))}"

    def out(self, rng: Random, count: int) -> list[A]:
        """Links to other bad sites, and now and then to a good one."""
        return [self.friends(rng) for _ in range(count)]

    def url(self, rng: Random) -> str:
        """The URL of some page of this site, in the style of a good site."""
        style, number = self.style, rng.randrange(10**6)
        words = f"{self.word(rng)}-{self.word(rng)}".encode("ascii", "ignore").decode()
        if self.rng("query").random() < 0.3:
            return f"{self.home}{style['folder']}?{style['parameter']}={words}-{number}"
        return f"{self.home}{style['folder']}/{words}-{number}{style['ending']}"

    def own(self, rng: Random, count: int) -> list[A]:
        """Links to other pages of this site."""
        return [A(self.url(rng), prose.phrase(self.theme, rng)) for _ in range(count)]

    def page(
        self,
        url: str,
        title: str,
        body: str,
        *,
        head: str = "",
        links: Sequence[A] = (),
        status: int = 200,
        headers: Mapping[str, str] | None = None,
    ) -> Reply:
        """An HTML reply; ``links`` are listed below the body."""
        nav = [A(self.home, "Home")]
        document = markup.page(
            title, body + markup.listed(links), layout=self.layout, nav=nav, head=head, site=self.host
        )
        return Reply(url, status, {"content-type": "text/html; charset=utf-8", **(headers or {})}, document)


class Answer(Protocol):
    """Answers a URL of a kind of bad site. ``path`` begins with a slash; ``query`` may be empty."""

    def __call__(self, site: BadSite, url: str, path: str, query: str) -> Reply: ...
