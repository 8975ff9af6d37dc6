"""Writes topic files for the sample web, with the targets from its plan.

    python -m crawlproject.webs.sample topics

writes ``demo.toml`` (coral reefs) and one ``demo-<theme>.toml`` for three of the other themes into the folder. Run it
again after every change of the sample web.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import NamedTuple

from crawlproject.webs.sample import SampleWeb
from crawlproject.webs.sample.plan import TROUBLE

_TEMPLATE = """\
# {comment}
# Written by `python -m crawlproject.webs.sample topics`: change it there, in demo.py.
name = {name}
description = {description}
keywords = {keywords}
seeds = {seeds}
# For evaluation only: no ordering sees them.
targets = {targets}

[crawl]
CRAWL_MAX_PAGES = 600
FRONTIER_BATCH_SIZE = 10 # the sample web has 120 hosts, a dozen of them on the topic
POLITENESS_MIN_DELAY = 0.1 # there is no real server
POLITENESS_MAX_CRAWL_DELAY = 2.0
"""


class DemoTopic(NamedTuple):
    """The content of a topic file: what a person would write, and the theme whose articles are the targets."""

    name: str
    theme: str
    comment: str
    description: str
    keywords: tuple[str, ...]
    seeds: tuple[str, ...]


TOPICS = (
    DemoTopic(
        "demo",
        "coral",
        "Crawls the bundled sample web for pages on coral reefs.",
        "Articles on coral reefs: how corals live, bleach, spawn and build reefs, the fish of the reef, and its care.",
        ("coral reef", "corals", "bleaching", "polyps", "reef fish", "marine biology"),
        ("http://www.lagoon-notes.example/", "http://www.nacre-divers.example/", "http://www.hobby-ring.example/"),
    ),
    DemoTopic(
        "demo-bread",
        "bread",
        "Crawls the bundled sample web for pages on sourdough baking.",
        "Articles on sourdough bread: starters, dough, flour and milling, fermentation, ovens and crust.",
        ("sourdough", "bread", "baking", "dough", "flour", "loaf", "oven"),
        ("http://www.millbrook-town.example/", "http://www.slow-loaf.example/", "http://www.webfinder.example/"),
    ),
    DemoTopic(
        "demo-volcanoes",
        "volcanoes",
        "Crawls the bundled sample web for pages on volcanoes.",
        "Articles on volcanoes: lava, ash, gases, calderas and tremor, and how eruptions are watched.",
        ("volcano", "eruption", "lava", "magma", "volcanic ash", "caldera", "crater"),
        ("http://www.tessel-village.example/", "http://www.ash-and-glass.example/", "http://www.first-page.example/"),
    ),
    DemoTopic(
        "demo-music",
        "music",
        "Crawls the bundled sample web for pages on medieval music.",
        "Articles on medieval music: chant and its notation, songs, dances, polyphony and the instruments.",
        ("medieval music", "chant", "troubadour", "motet", "polyphony", "vielle", "hurdy-gurdy"),
        ("http://www.varne.example/", "http://www.mode-and-measure.example/", "http://www.open-directory.example/"),
    ),
)


def targets(web: SampleWeb, theme: str) -> list[str]:
    """The articles on a theme, the hidden ones included; shops and mirrors do not count."""
    return sorted(
        page.url
        for page in web.plan.pages.values()
        if page.kind == "article" and page.theme.key == theme and page.site.kind not in (TROUBLE, "shop")
    )


def topic_file(web: SampleWeb, topic: DemoTopic) -> str:
    """The TOML text of a topic file."""
    return _TEMPLATE.format(
        comment=topic.comment,
        name=json.dumps(topic.name),
        description=json.dumps(topic.description),
        keywords=json.dumps(topic.keywords),
        seeds=_lines(topic.seeds),
        targets=_lines(targets(web, topic.theme)),
    )


def write_topics(folder: Path) -> None:
    """Write every topic file into ``folder``."""
    web = SampleWeb()
    for topic in TOPICS:
        (folder / f"{topic.name}.toml").write_text(topic_file(web, topic), encoding="utf-8")


def _lines(urls: tuple[str, ...] | list[str]) -> str:
    return "[\n" + "".join(f"  {json.dumps(url)},\n" for url in urls) + "]"
