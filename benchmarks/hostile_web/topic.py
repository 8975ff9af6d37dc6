"""Topics of the hostile web: the targets are the articles about a theme."""

from __future__ import annotations

import json

from benchmarks.hostile_web import HostileWeb
from benchmarks.hostile_web.prose import KEYWORDS
from crawlproject.records import Topic

SEEDS = 5


def topic_of(web: HostileWeb, theme: str = "coral") -> Topic:
    """A theme as a topic: ``SEEDS`` of its articles as seeds, and all of them as targets."""
    targets = tuple(sorted(web.good.articles(theme)))
    return Topic(f"hostile-{theme}", KEYWORDS[theme], tuple(web.seeds(theme, SEEDS)), targets=targets)


def topic_text(web: HostileWeb, theme: str = "coral") -> str:
    """The topic file of ``topic_of``."""
    topic = topic_of(web, theme)
    lines = [f"name = {json.dumps(topic.name)}"]
    for name, values in (("keywords", topic.keywords), ("seeds", topic.seeds), ("targets", topic.targets)):
        lines += [f"{name} = [", *(f"  {json.dumps(value)}," for value in values), "]"]
    return "\n".join(lines) + "\n"
