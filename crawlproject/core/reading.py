"""How a crawl reads URLs and pages according to its settings: canonical spelling, trap rules, readers."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection

from crawlproject.extras import need
from crawlproject.frontier.base import CountingFrontier, Frontier
from crawlproject.options import DOCUMENT_TYPES, Options
from crawlproject.pages.reader import Reader
from crawlproject.pages.text.analyzer import Analyzer
from crawlproject.records import Topic
from crawlproject.urls.file_extensions import NOT_A_PAGE
from crawlproject.urls.traps import TrapFilter


def make_traps(options: Options, frontier: Frontier | None = None) -> TrapFilter:
    """Make the trap rules of the ``TRAP_*`` settings; some frontiers count the URLs of hosts themselves."""
    return TrapFilter(
        max_url_length=options.trap_max_url_length,
        max_segment_repeats=options.trap_max_segment_repeats,
        max_segments=options.trap_max_segments,
        max_depth=options.trap_max_depth,
        max_urls_per_host=options.trap_max_urls_per_host,
        extensions={*(NOT_A_PAGE - _read_as_pages(options)), *options.trap_extensions},
        urls_of_host=frontier.urls_of_host if isinstance(frontier, CountingFrontier) else None,
    )


def _read_as_pages(options: Options) -> set[str]:
    """The file extensions of documents whose media types are read."""
    return {name for name, media_type in DOCUMENT_TYPES.items() if media_type in options.page_content_types}


def make_reader(
    options: Options,
    analyzer: Analyzer,
    canonicalize: Callable[..., str],
    *,
    tag_paths: bool = True,
    reads: Collection[str] = (),
    agent: str = "",
) -> Reader:
    """Make the reader of the ``PAGE_*`` settings. ``tag_paths``: whether it reads the tag paths of links.

    ``reads`` lists what else it reads (``Part.reads``). ``agent`` is the product token by which a page may address this crawler.
    """
    if options.page_main_text:
        need("setting PAGE_MAIN_TEXT", "content")
    return Reader(
        analyzer,
        canonicalize=canonicalize,
        aggregation_level=options.ordering_aggregation_level,
        obey_nofollow=options.page_obey_nofollow,
        obey_meta_robots=options.page_obey_meta_robots,
        max_links=options.page_max_links,
        tag_paths=tag_paths,
        forms="forms" in reads,
        agent=agent,
        main_content=options.page_main_text,
        related="related" in reads,
    )


def topic_in_canonical_urls(topic: Topic, canonicalize: Callable[..., str]) -> Topic:
    """The topic and its members, with canonical seeds and targets, each listed once."""
    seeds = tuple(dict.fromkeys(canonicalize(seed) for seed in topic.seeds))
    targets = tuple(dict.fromkeys(canonicalize(target) for target in topic.targets))
    members = tuple(topic_in_canonical_urls(member, canonicalize) for member in topic.members)
    return dataclasses.replace(topic, seeds=seeds, targets=targets, members=members)
