"""Pairs of pages with known edits: pages of made-up sites, and altered copies of them elsewhere. All are made from a seed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from itertools import accumulate
from random import Random

_CONSONANTS, _VOWELS = "bcdfglmnprstv", "aeiou"
_WORDS = 6000


@dataclass(frozen=True, slots=True)
class Site:
    """What all pages of a host share."""

    host: str
    name: str
    menu: tuple[str, ...]
    header: str
    footer: str


@dataclass(frozen=True, slots=True)
class Article:
    """A page before it is HTML: paragraphs of sentences; ``links`` form a separate list."""

    site: Site
    path: str
    title: str
    paragraphs: tuple[tuple[str, ...], ...]
    stamp: str = ""
    links: tuple[str, ...] = ()
    session: str = ""
    bare: bool = False

    @property
    def url(self) -> str:
        return f"http://{self.site.host}{self.path}"

    def html(self) -> bytes:
        menu = () if self.bare else self.site.menu
        parts = [f"<!doctype html><title>{self.title}{'' if self.bare else f' | {self.site.name}'}</title><body>"]
        parts += ["<ul>", *(self._link(f"/{word}", word) for word in menu), "</ul>"]
        parts += [] if self.bare else [f"<header>{self.site.header}</header>"]
        parts += [f"<h1>{self.title}</h1>", f"<p>{self.stamp}</p>"]
        parts += [f"<p>{' '.join(sentences)}</p>" for sentences in self.paragraphs]
        parts += ["<ol>", *(self._link(f"/{words.replace(' ', '-')}", words) for words in self.links), "</ol>"]
        parts += [] if self.bare else [f"<footer>{self.site.footer}</footer>"]
        return "\n".join(parts).encode()

    def _link(self, target: str, words: str) -> str:
        return f'<li><a href="{target}{self.session}">{words}</a></li>'


@dataclass(frozen=True, slots=True)
class Pair:
    """Two pages; ``copy``: the second is a copy of the first."""

    kind: str
    copy: bool
    first: Article
    second: Article


@dataclass
class Author:
    """Writes articles, and edits them in ways that occur on the web."""

    random: Random
    words: list[str] = field(default_factory=list)
    weights: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.words = sorted({self._word() for _ in range(2 * _WORDS)})[:_WORDS]
        self.random.shuffle(self.words)
        self.weights = list(accumulate(1 / (rank + 10) for rank in range(len(self.words))))  # Zipf's law

    def _word(self) -> str:
        syllables = self.random.randint(2, 4)
        return "".join(self.random.choice(_CONSONANTS) + self.random.choice(_VOWELS) for _ in range(syllables))

    def some(self, count: int) -> str:
        return " ".join(self.random.choices(self.words, cum_weights=self.weights, k=count))

    def sentence(self) -> str:
        return f"{self.some(self.random.randint(7, 18)).capitalize()}."

    def paragraphs(self, count: int) -> tuple[tuple[str, ...], ...]:
        return tuple(tuple(self.sentence() for _ in range(self.random.randint(2, 6))) for _ in range(count))

    def site(self, boilerplate: int = 40) -> Site:
        """A site with ``boilerplate`` words in its footer, and a quarter of that in its header."""
        name = self.some(2)
        menu = tuple(dict.fromkeys(self.some(1) for _ in range(self.random.randint(10, 50))))
        header, footer = self.some(boilerplate // 4), self.some(boilerplate)
        return Site(f"{name.replace(' ', '-')}.example", name, menu, header, footer)

    def article(self, site: Site | None = None, paragraphs: int = 0) -> Article:
        title = self.some(self.random.randint(3, 7))
        return Article(
            site or self.site(),
            f"/{self.some(1)}/{title.replace(' ', '-')}",
            title,
            self.paragraphs(paragraphs or self.random.randint(5, 20)),
            self.stamp(),
        )

    def stamp(self) -> str:
        day, year, read = self.random.randint(1, 28), self.random.randint(1996, 2026), self.random.randint(1, 9999)
        return f"{day} {self.some(1)} {year}, read {read} times, {self.random.randint(0, 99)} comments"

    def rewritten(self, article: Article, share: float) -> Article:
        """Replace each sentence with probability ``share``, and at least one."""
        sentences = [len(paragraph) for paragraph in article.paragraphs]
        surely = (self.random.randrange(len(sentences)), 0)
        paragraphs = tuple(
            tuple(
                self.sentence() if (place, number) == surely or self.random.random() < share else sentence
                for number, sentence in enumerate(paragraph)
            )
            for place, paragraph in enumerate(article.paragraphs)
        )
        return replace(article, paragraphs=paragraphs)

    def reworded(self, article: Article, share: float) -> Article:
        """Replace each word with probability ``share``."""

        def reword(sentence: str) -> str:
            words = sentence.split()
            return " ".join(self.some(1) if self.random.random() < share else word for word in words)

        return replace(article, paragraphs=tuple(tuple(map(reword, paragraph)) for paragraph in article.paragraphs))

    def elsewhere(self, article: Article) -> str:
        """Another path to the article on its host."""
        return f"/{self.some(1)}/{self.random.randint(1000, 9999)}"


def _sentences(author: Author, first: Article) -> Article:
    return replace(author.rewritten(first, 0.03), path=author.elsewhere(first))


def _words(author: Author, first: Article) -> Article:
    return replace(author.reworded(first, 0.01), path=author.elsewhere(first))


def _dates(author: Author, first: Article) -> Article:
    return replace(first, stamp=author.stamp(), path=f"{first.path}?day={author.random.randint(1, 365)}")


def _navigation(author: Author, first: Article) -> Article:
    menu = author.site().menu
    return replace(first, site=replace(first.site, menu=menu), path=author.elsewhere(first))


def _template(author: Author, first: Article) -> Article:
    return replace(first, site=author.site())


def _order(author: Author, first: Article) -> Article:
    paragraphs = list(first.paragraphs)
    author.random.shuffle(paragraphs)
    return replace(first, paragraphs=tuple(paragraphs), path=author.elsewhere(first))


def _print(author: Author, first: Article) -> Article:
    return replace(first, bare=True, path=f"{first.path}?print=1")


def _session(author: Author, first: Article) -> Article:
    session = f"?sid={author.random.randrange(10**9)}"
    return replace(first, session=session, path=first.path + session, stamp=author.stamp())


def _agency(author: Author, first: Article) -> Article:
    told = author.rewritten(first, 0.05)
    return replace(
        told, site=author.site(), path=author.elsewhere(first), paragraphs=told.paragraphs[:-1] or told.paragraphs
    )


def _headline(author: Author, first: Article) -> Article:
    return replace(
        author.rewritten(first, 0.02), site=author.site(), path=author.elsewhere(first), title=author.some(5)
    )


def _other(author: Author, first: Article) -> Article:
    return author.article(first.site)


def _stub(author: Author, first: Article) -> Article:
    return author.article(first.site, paragraphs=1)


def _static_title(author: Author, first: Article) -> Article:
    return replace(author.article(first.site, paragraphs=2), title=first.title)


def _numbers(author: Author, first: Article) -> Article:
    def renumbered(sentence: str) -> str:
        return " ".join(str(author.random.randint(1, 9999)) if w.isdecimal() else w for w in sentence.split())

    paragraphs = tuple(tuple(map(renumbered, paragraph)) for paragraph in first.paragraphs)
    return replace(first, paragraphs=paragraphs, path=f"{first.path}?year={author.random.randint(1900, 2026)}")


def _list(author: Author, first: Article) -> Article:
    links = tuple(author.some(4) for _ in first.links)
    return replace(first, links=links, path=f"{first.path}?page=2")


def _revised(author: Author, first: Article) -> Article:
    return replace(author.rewritten(first, 0.5), path=author.elsewhere(first))


def _quote(author: Author, first: Article) -> Article:
    other = author.article(paragraphs=len(first.paragraphs))
    quoted = first.paragraphs[: max(1, len(first.paragraphs) // 4)]
    return replace(other, paragraphs=(*quoted, *other.paragraphs[len(quoted) :]))


def _chapter(author: Author, first: Article) -> Article:
    title = f"{first.title.rpartition(' ')[0]} {author.random.randint(2, 9)}"
    return replace(author.article(first.site), title=title, path=f"/book/chapter-{author.random.randint(2, 9)}")


Edit = Callable[[Author, Article], Article]

COPIES: dict[str, Edit] = {
    "sentences": _sentences,
    "words": _words,
    "dates": _dates,
    "navigation": _navigation,
    "template": _template,
    "order": _order,
    "print view": _print,
    "session": _session,
    "agency": _agency,
    "agency, new title": _headline,
}
OTHERS: dict[str, Edit] = {
    "same site": _other,
    "stubs": _stub,
    "one title for all": _static_title,
    "numbers": _numbers,
    "next page of a list": _list,
    "half rewritten": _revised,
    "quotes": _quote,
    "chapters": _chapter,
}


def edited_pairs(seed: int, per_kind: int) -> Iterator[Pair]:
    """Yield ``per_kind`` pairs of each kind, each from a different site."""
    author = Author(Random(seed))
    for kind, edit in (*COPIES.items(), *OTHERS.items()):
        for _ in range(per_kind):
            first = _first(author, kind)
            yield Pair(kind, kind in COPIES, first, edit(author, first))


def _first(author: Author, kind: str) -> Article:
    if kind == "stubs":
        return author.article(author.site(boilerplate=200), paragraphs=1)
    if kind == "one title for all":
        return author.article(author.site(boilerplate=120), paragraphs=2)
    first = author.article()
    if kind == "numbers":
        rows = tuple(tuple(f"{author.some(1)} {author.random.randint(1, 9999)}" for _ in range(8)) for _ in range(10))
        return replace(first, paragraphs=rows)
    if kind == "next page of a list":
        return replace(first, paragraphs=first.paragraphs[:2], links=tuple(author.some(4) for _ in range(60)))
    if kind == "chapters":
        return replace(first, title=f"{first.title} 1", path="/book/chapter-1")
    return first
