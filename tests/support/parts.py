"""The parts of a crawl, for tests that look into them."""

from __future__ import annotations

from crawlproject.core.crawl import Crawl
from crawlproject.parts.duplicates.part import Duplicates
from crawlproject.parts.probes.part import Probes
from crawlproject.parts.rendering.part import Rendering
from crawlproject.parts.revisits.part import RevisitPart
from crawlproject.parts.revisits.revisits import Revisits
from crawlproject.parts.sites.part import Sites
from crawlproject.parts.topics.part import TopicsPart


def sites_of(crawl: Crawl) -> Sites:
    part = crawl.part(Sites)
    assert part is not None
    return part


def duplicates_of(crawl: Crawl) -> Duplicates:
    part = crawl.part(Duplicates)
    assert part is not None
    return part


def probes_of(crawl: Crawl) -> Probes:
    part = crawl.part(Probes)
    assert part is not None
    return part


def rendering_of(crawl: Crawl) -> Rendering:
    part = crawl.part(Rendering)
    assert part is not None
    return part


def revisits_of(crawl: Crawl) -> Revisits:
    part = crawl.part(RevisitPart)
    assert part is not None
    return part.revisits


def topics_of(crawl: Crawl) -> TopicsPart:
    part = crawl.part(TopicsPart)
    assert part is not None
    return part
