"""``scrapy seeds WEB|CRAWL_DIR TOPIC``: adds hubs, pages that link to several seed hosts, to the seeds of a topic."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scrapy.exceptions import UsageError

from crawlproject.adapters.subcommand import Subcommand, cache_dir, reporting_errors, settings_for
from crawlproject.configuration import program
from crawlproject.errors import BadWeb

if TYPE_CHECKING:
    from crawlproject.records import Page, Topic
    from crawlproject.topic.found_seeds import Hub


class SeedsCommand(Subcommand):
    requires_project = True
    usage = "[options] WEB|CRAWL_DIR TOPIC"
    summary = "Add hubs, pages that link to several seed hosts, to the seeds of a topic"
    description = (
        "Find hubs, pages that link to two or more of the topic's seed hosts, in WEB (a WARC file, a folder of "
        "<host>/<path> files, or `sample`) or among the links of an earlier crawl (CRAWL_DIR), and write a copy of the "
        "topic file with the hubs as additional seeds. Targets never become seeds, nor do pages that repeat the "
        "description of the topic (003 section 6). "
        "Exit code 2: a wrong web, crawl folder or topic."
    )
    examples = ("seeds crawls/earlier reefs.toml",)

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        hosts = "minimum seed hosts, other than its own, that a hub links to (default: 2)"
        parser.add_argument("--min-hosts", metavar="N", type=int, default=2, help=hosts)
        parser.add_argument("--most", metavar="N", type=int, default=10, help="maximum hubs to add (default: 10)")
        origin = "leave out pages of these domains, separated by commas, such as the directory that the seeds come from"
        parser.add_argument("--without", metavar="DOMAINS", default="", help=origin)
        parser.add_argument(
            "--out",
            metavar="FILE",
            type=Path,
            help="topic file to write (default: <topic>.augmented.toml beside TOPIC, or here)",
        )

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        if len(args) != 2:
            raise UsageError("expected a web or a crawl folder, and a topic", print_help=False)
        for option in ("min_hosts", "most"):
            if getattr(opts, option) < 1:
                raise UsageError(f"--{option.replace('_', '-')}: expected at least 1", print_help=False)
        with reporting_errors(self):
            self._augment(args[0], args[1], opts)

    def _augment(self, source: str, asked: str, opts: argparse.Namespace) -> None:
        from crawlproject.configuration import read_options
        from crawlproject.core.reading import topic_in_canonical_urls
        from crawlproject.storage.append_log import write_atomically
        from crawlproject.storage.crawl_files import refuse_target
        from crawlproject.topic.edits import with_seeds
        from crawlproject.topic.folder import find_topic_file
        from crawlproject.topic.found_seeds import find_hubs, is_below, is_mirror
        from crawlproject.topic.parse import load_topic, parse_topic
        from crawlproject.urls.canonical import make_canonicalizer

        path = find_topic_file(asked)
        out = opts.out or Path(asked).with_name(f"{path.name.removesuffix('.toml')}.augmented.toml")
        refuse_target(out)
        topic = load_topic(path)
        settings = settings_for(self, topic)
        canonical = topic_in_canonical_urls(topic, make_canonicalizer(read_options(settings)))
        domains = opts.without.lower().replace(",", " ").split()
        with opened(source, canonical, settings, agent=self.agent) as web:
            description = Counter(web.terms(topic.description))

            def is_wanted(url: str) -> bool:
                page = web.page(url)
                return not is_below(url, domains) and not (page and is_mirror(page.counts, description))

            hubs = find_hubs(
                web.links,
                canonical.seeds,
                min_hosts=opts.min_hosts,
                most=opts.most,
                unwanted=canonical.targets,
                redirects={seed: page.url for seed in canonical.seeds if (page := web.page(seed))},
                is_wanted=is_wanted,
            )
        if not hubs:
            print(f"No page of {source} links to {opts.min_hosts} seed hosts; nothing was written.")
            return
        comment = f"hubs that link to several of the seed hosts above, found by {program} seeds in {Path(source).name}"
        text = path.read_bytes().decode("utf-8-sig")
        new = with_seeds(text, str(path), [hub.url for hub in hubs], comment)
        parse_topic(new, str(out), folder=out.parent)  # relative paths of example files must be valid there, too
        write_atomically(out, [new.encode()])
        _print_hubs(hubs, out)


@dataclass(frozen=True)
class SeedSource:
    """A known link graph: ``links`` of every page, the ``page`` at a URL (after redirects; or None), ``terms`` of a text."""

    links: Iterable[tuple[str, Sequence[str]]]
    page: Callable[[str], Page | None]
    terms: Callable[[str], Iterable[str]]


@contextmanager
def opened(source: str, topic: Topic, settings: dict[str, Any], *, agent: str) -> Iterator[SeedSource]:
    """Open a web or an earlier crawl. A crawl may have links but no pages. Raises ``BadWeb``."""
    from crawlproject.configuration import read_options
    from crawlproject.evaluation.simulation.runner import read_pages
    from crawlproject.pages.text.relevance import TopicJudge, make_analyzer
    from crawlproject.storage.read import MANIFEST, read_links
    from crawlproject.urls.canonical import make_canonicalizer
    from crawlproject.webs.open import open_web
    from crawlproject.webs.page_cache import ArchivedPages, JudgedPages, PageCacheFolder

    folder, options = Path(source), read_options(settings)
    is_crawl = (folder / MANIFEST).is_file()
    try:
        web = open_web(source, cache_dir=cache_dir())
    except BadWeb:
        if not is_crawl:
            raise
        yield SeedSource(read_links(folder), lambda url: None, make_analyzer(topic.language, options).terms)
        return
    for warning in web.warnings:
        print(f"{program}: web {source}: {warning}", file=sys.stderr)
    canonicalize = make_canonicalizer(options)
    pages = read_pages(web, topic.language, options, PageCacheFolder(cache_dir(), source), agent=agent)
    judged = JudgedPages(pages, TopicJudge(topic.keywords, pages.reader.analyzer))
    try:
        links = read_links(folder) if is_crawl else pages.all_links(canonicalize)
        yield SeedSource(links, ArchivedPages(pages, judged, canonicalize).page, pages.reader.analyzer.terms)
    finally:
        pages.close()
        web.close()


def _print_hubs(hubs: Sequence[Hub], out: Path) -> None:
    for hub in hubs:
        print(f"{hub.url}  links to {len(hub.hosts)} seed hosts: {', '.join(hub.hosts)}")
    print(f"{len(hubs)} seeds added: {out}")
