"""Builds the plan of the sample web from a seed number."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random

from crawlproject.webs.sample.plan import SamplePlan, SampleSite
from crawlproject.webs.sample.sites import fill
from crawlproject.webs.sample.themes import Theme
from crawlproject.webs.sample.themes.bees import BEES
from crawlproject.webs.sample.themes.bread import BREAD
from crawlproject.webs.sample.themes.coral import CORAL
from crawlproject.webs.sample.themes.everyday import EVERYDAY
from crawlproject.webs.sample.themes.music import MUSIC
from crawlproject.webs.sample.themes.railways import RAILWAYS
from crawlproject.webs.sample.themes.volcanoes import VOLCANOES
from crawlproject.webs.sample.trouble import redirects, troubled_sites

THEMES: Sequence[Theme] = (CORAL, BREAD, BEES, VOLCANOES, MUSIC, RAILWAYS)
LAYOUTS = ("modern", "tables", "plain")
HIDDEN = 5  # one site in so many of a theme is hidden behind a tunnel
SLOW = 17  # one site in so many is slow
DELAYED = 29  # one site in so many asks for a Crawl-delay
OLD_CHARSET = 11  # one site in so many is encoded in ISO 8859-1


def build(seed: int) -> SamplePlan:
    """The plan for ``seed``; the same plan for the same seed, on every machine."""
    rng = Random(f"plan {seed}")
    sites = [*_theme_sites(rng), *_everyday_sites(rng)]
    for number, site in enumerate(sites):
        _behave(site, number, rng)
        fill(site, THEMES, rng)
    sites += troubled_sites(sites)
    by_host = {site.host: site for site in sites}
    return SamplePlan(by_host, redirects(by_host), _tunnels(sites, rng))


def _theme_sites(rng: Random) -> Iterator[SampleSite]:
    for theme in THEMES:
        for number, (name, title, kind) in enumerate(theme.sites):
            hidden = number % HIDDEN == HIDDEN - 1 and kind != "hub"
            yield SampleSite(f"www.{name}.example", title, kind, theme, layout=rng.choice(LAYOUTS), hidden=hidden)


def _everyday_sites(rng: Random) -> Iterator[SampleSite]:
    for name, title, kind in EVERYDAY.sites:
        yield SampleSite(f"www.{name}.example", title, kind, EVERYDAY, layout=rng.choice(LAYOUTS))


def _behave(site: SampleSite, number: int, rng: Random) -> None:
    """Latency, robots.txt and charset of a site."""
    site.seconds = rng.uniform(2.0, 5.0) if number % SLOW == SLOW - 1 else round(rng.uniform(0.03, 0.4), 3)
    if number % OLD_CHARSET == OLD_CHARSET - 1:
        site.charset = "iso-8859-1"
    rules = ["User-agent: *", "Disallow: /archive/" if number % 2 else "Disallow: /private/"]
    delayed = number % DELAYED == DELAYED - 1
    if delayed:
        rules.append("Crawl-delay: 2")
    if site.kind == "shop":
        rules += ["Disallow: /basket/", "", "User-agent: greedybot", "Disallow: /"]
    if delayed or number % 3:
        site.robots = "\n".join(rules) + "\n"


def _tunnels(sites: Sequence[SampleSite], rng: Random) -> dict[str, SampleSite]:
    """For each hidden site, the only everyday page that links to it."""
    stories = [page for site in sites if site.kind in ("town", "paper", "personal") for page in site.of_kind("story")]
    hidden = [site for site in sites if site.hidden]
    return {page.url: site for page, site in zip(rng.sample(stories, len(hidden)), hidden, strict=True)}
