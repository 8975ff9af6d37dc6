"""The plan of the sample web, before any HTML is written: sites, pages, redirects and tunnels, and the themes of the sites.

There are six themes, and everyday life around them. Each theme is a phrase bank, a file in ``phrases/``. The sentences of a
subject in ``subjects`` are about that subject, in any order; sentences in ``remarks`` have the slots ``{subject}``,
``{place}``, ``{year}`` and ``{number}``.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import resources
from typing import Any, NamedTuple

from crawlproject.records import Failure

TROUBLE = "trouble"  # the kind of difficult sites


@dataclass(slots=True)
class SampleSite:
    """A host and how it behaves.

    ``seconds`` is the latency of a page. A ``hidden`` site is linked only from the everyday page at the end of its tunnel.
    ``robots`` is the text of robots.txt, None when there is none. Every page of the host answers with ``status``, or with
    ``error`` if it is set.
    """

    host: str
    title: str
    kind: str
    theme: Theme
    seconds: float = 0.1
    layout: str = "modern"
    charset: str = "utf-8"
    hidden: bool = False
    robots: str | None = None
    robots_status: int = 200
    status: int = 200
    error: Failure = ""
    pages: list[SamplePage] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"http://{self.host}/"

    def of_kind(self, *kinds: str) -> list[SamplePage]:
        return [page for page in self.pages if page.kind in kinds]


class SamplePage(NamedTuple):
    """A page, whose HTML is written when it is requested.

    ``kind`` determines the links of the page (``crawlproject.webs.sample.wiring``), ``theme`` and ``subject`` its text;
    ``number`` distinguishes pages of one kind.
    """

    url: str
    site: SampleSite
    kind: str
    title: str
    theme: Theme
    subject: str
    number: int = 0


class Redirect(NamedTuple):
    """A redirect; ``location`` may be relative or not canonical."""

    status: int
    location: str


@dataclass(slots=True)
class SamplePlan:
    """The whole sample web. ``tunnels`` maps the URL of an everyday page to the hidden site that it links to.

    ``sites_about`` and ``articles_about`` map the key of a theme to the sites and articles that others may link to.
    """

    sites: Mapping[str, SampleSite]
    redirects: Mapping[str, Redirect]
    tunnels: Mapping[str, SampleSite]
    pages: dict[str, SamplePage] = field(init=False)
    sites_about: dict[str, list[SampleSite]] = field(init=False)
    articles_about: dict[str, list[SamplePage]] = field(init=False)

    def __post_init__(self) -> None:
        self.pages = {page.url: page for site in self.sites.values() for page in site.pages}
        self.sites_about = {}
        self.articles_about = {}
        for site in self.sites.values():
            if site.hidden or site.kind == TROUBLE:
                continue
            self.sites_about.setdefault(site.theme.key, []).append(site)
            for page in site.of_kind("article"):
                self.articles_about.setdefault(page.theme.key, []).append(page)


@dataclass(frozen=True, slots=True)
class Theme:
    """A phrase bank.

    ``sites`` are triples (name in the host, title, kind); the kinds are those of ``crawlproject.webs.sample.sites``.
    ``goods`` are sold in the shops of the theme.
    """

    key: str
    name: str
    about: str
    places: tuple[str, ...]
    sites: tuple[tuple[str, str, str], ...]
    subjects: Mapping[str, tuple[str, ...]]
    remarks: tuple[str, ...]
    goods: tuple[str, ...]


def _load(key: str) -> Theme:
    text = (resources.files(__package__) / "phrases" / f"{key}.toml").read_text("utf-8")
    fields: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in tomllib.loads(text).items()
    }
    fields["sites"] = tuple(map(tuple, fields["sites"]))
    fields["subjects"] = {subject: tuple(sentences) for subject, sentences in fields["subjects"].items()}
    return Theme(**fields)


EVERYDAY = _load("everyday")
THEMES = tuple(map(_load, ("coral", "bread", "bees", "volcanoes", "music", "railways")))
