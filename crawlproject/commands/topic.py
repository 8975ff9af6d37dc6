"""``scrapy topic ACTION FILE``: writes topic files, or checks one before a page budget is spent on it."""

from __future__ import annotations

import argparse
import shlex
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

from scrapy.exceptions import UsageError

from crawlproject.adapters.asker import Asker, canonical, keywords_of
from crawlproject.adapters.subcommand import CRAWL_TOPIC, Subcommand, reporting_errors, require_part, settings_for
from crawlproject.configuration import program
from crawlproject.errors import BadInput, BadTopic
from crawlproject.pages.text.printable import counted

if TYPE_CHECKING:
    from crawlproject.records import Page, Topic
    from crawlproject.topic.check import SeedPreview
    from crawlproject.topic.edits import Draft

WEAK = 1  # exit code: the topic has weaknesses
_SAMPLE = 20  # pages
_BUDGET = 1000  # pages
_ACTIONS = ("new", "check", "from-taxonomy", "examples", "searches")
_WORDS = 5


class TopicCommand(Subcommand):
    requires_project = True
    usage = "new|check|from-taxonomy|examples|searches [options] FILE [CRAWL_DIR]"
    summary = "Write topic files, or check one"
    description = (
        "new: write FILE from keywords and URLs (--query, --seed, --example), asking for whatever is missing. With a query "
        "alone, seeds are found in earlier crawls, SEED_FILES and SEED_SEARCH_URL. check: fetch "
        "the seeds of a topic (a file, a name, or TOML text) and some of the pages they link to, politely, and list "
        "the weaknesses of the topic. from-taxonomy: write a topic for each category of a directory of the web (FILE: RDF, "
        "OPML or JSON) into --out, with random seeds and the other pages as targets. examples: save the pages that were "
        "judged in CRAWL_DIR as examples of the topic. searches: print queries that found too little in CRAWL_DIR, "
        "with seeds for them; --add adds them to FILE. Exit code 1: weaknesses; 2: bad input."
    )
    examples = (
        'topic new reefs.toml --query "coral reef" --seed http://www.lagoon-notes.example/',
        "topic new reefs.toml --query reefs --seeds-from bookmarks.opml",
        "topic check reefs.toml",
    )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument("--query", metavar="WORDS", help="new: keywords, separated by commas")
        parser.add_argument("--seed", metavar="URL", action="append", default=[], help="new: a seed; may be repeated")
        listed = "new: seeds from a file, one a line, OPML or a sitemap; - for standard input; may be repeated"
        parser.add_argument("--seeds-from", metavar="FILE", action="append", default=[], help=listed)
        crawls = "new, searches: folder of earlier crawls whose pages may become seeds (default: crawls)"
        parser.add_argument("--crawls", metavar="DIR", type=Path, default=Path("crawls"), help=crawls)
        example = "new: a page on the topic, used as seed, example and source of keywords; may be repeated"
        parser.add_argument("--example", metavar="URL", action="append", default=[], help=example)
        parser.add_argument("--language", metavar="CODE", help="new: language of the pages (default: en)")
        parser.add_argument("--pages", metavar="N", type=int, help=f"new: page budget, 0 for none (default: {_BUDGET})")
        words = f"new: maximum keywords to take from the examples (default: {_WORDS})"
        parser.add_argument("--words", metavar="N", type=int, default=_WORDS, help=words)
        sample = f"new, check: maximum linked pages to fetch, 0 for none (default: {_SAMPLE})"
        parser.add_argument("--sample", metavar="N", type=int, default=_SAMPLE, help=sample)
        self._add_taxonomy_options(parser)
        parser.add_argument(
            "--add", metavar="QUERIES", default="", help="searches: write these queries, separated by commas, into FILE"
        )
        parser.add_argument("--no-fetch", action="store_true", help="check: fetch nothing")
        parser.add_argument("--json", action="store_true", help="check: print JSON")

    def _add_taxonomy_options(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument(
            "--out",
            metavar="FOLDER",
            type=Path,
            default=Path("topics"),
            help="from-taxonomy: folder for the topics (default: topics)",
        )
        parser.add_argument(
            "--ending",
            metavar="WORDS",
            default="",
            help="from-taxonomy: only categories with a name that ends with one of these, separated by commas",
        )
        parser.add_argument(
            "--without",
            metavar="NAMES",
            default="",
            help="from-taxonomy: no categories with one of these names in their path, separated by commas",
        )
        least = "from-taxonomy: minimum pages in a category (default: 21)"
        parser.add_argument("--least", metavar="N", type=int, default=21, help=least)
        parser.add_argument(
            "--seeds", metavar="N", type=int, default=10, help="new, from-taxonomy: maximum seeds (default: 10)"
        )
        leaves = "from-taxonomy: only categories without subcategories"
        parser.add_argument("--leaves", action="store_true", help=leaves)
        exactly = "from-taxonomy: each seed of NAME.far.toml starts a path of --distance links, not only shorter ones"
        parser.add_argument("--exactly", action="store_true", help=exactly)
        far = "from-taxonomy: also write NAME.far.toml, with seeds up to --distance links away in this web or crawl"
        parser.add_argument("--neighbours", metavar="WEB", default="", help=far)
        parser.add_argument(
            "--distance",
            metavar="N",
            type=int,
            default=2,
            help="from-taxonomy: maximum links from a seed to a page of the category (default: 2)",
        )

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        if len(args) != 2 + (args[:1] in (["examples"], ["searches"])) or args[0] not in _ACTIONS:
            raise UsageError(
                "expected new, check or from-taxonomy, and a file; or examples or searches, a file, and a crawl folder",
                print_help=False,
            )
        for option in ("words", "sample", "pages", "least", "seeds", "distance"):
            if (getattr(opts, option) or 0) < 0:
                raise UsageError(f"--{option}: expected 0 or more", print_help=False)
        with reporting_errors(self):
            if args[0] == "new":
                self._new(Path(args[1]), opts)
            elif args[0] == "examples":
                _keep_examples(Path(args[1]), Path(args[2]))
            elif args[0] == "searches":
                self._searches(Path(args[1]), Path(args[2]), opts)
            elif args[0] == "from-taxonomy":
                self._from_taxonomy(Path(args[1]), opts)
            else:
                self._check(args[1], opts)

    # ------------------------------------------------------------ new

    def _new(self, path: Path, opts: argparse.Namespace) -> None:
        from crawlproject.configuration import read_options
        from crawlproject.pages.text.relevance import refuse_wordless
        from crawlproject.storage.append_log import write_atomically
        from crawlproject.topic.edits import Draft, name_for, topic_text
        from crawlproject.topic.parse import parse_topic
        from crawlproject.topic.seed_lists import read_seed_list

        if path.exists():
            raise BadTopic(str(path), "the file exists; choose another name")
        ask = Asker()
        keywords = keywords_of(opts.query) if opts.query else ask.keywords()
        listed = chain.from_iterable(map(read_seed_list, opts.seeds_from))
        urls = [canonical(url) for url in (*opts.seed, *listed, *opts.example)]
        found = {} if urls else self._seeds(keywords, opts)
        asked = not opts.query or not (urls or found)
        urls = urls or [*found, *(ask.urls(more=bool(found)) if asked else ())]
        language = opts.language or (ask.text("Language of the pages", "en") if asked else "en")
        budget = opts.pages if opts.pages is not None else (ask.number("Page budget", _BUDGET) if asked else _BUDGET)
        examples = [canonical(url) for url in opts.example]
        name = path.name.removesuffix(".toml") or name_for(keywords)
        draft = Draft(name, keywords, list(dict.fromkeys(urls)), language, "", examples, budget, sources=found)
        topic = parse_topic(topic_text(draft), str(path))
        refuse_wordless(topic, read_options(settings_for(self, topic)), str(path))
        if examples and opts.words:
            words = self._words(topic, examples, opts)
            print(f"Keywords from the examples: {', '.join(words) or 'none'}")
            draft = replace(draft, keywords=[*keywords, *words])
        write_atomically(path, [topic_text(draft).encode()])
        print(f"Written: {path}")
        given = "".join(f" -s {shlex.quote(f'{name}={value}')}" for name, value in self.given.items())
        quoted = shlex.quote(str(path))
        print(f"Next:    {program} topic check {quoted}{given}\n         {CRAWL_TOPIC}{quoted}{given}")

    def _seeds(self, keywords: list[str], opts: argparse.Namespace) -> dict[str, str]:
        """Find seeds for the keywords, and return each with its source and title. Raises ``BadInput``."""
        from crawlproject.adapters.seed_search import NO_SEEDS, SeedSearch
        from crawlproject.configuration import read_options
        from crawlproject.dashboard.crawls import SEARCHED, latest_crawls

        search = SeedSearch(read_options(self.settings.copy_to_dict()), str(self.settings["USER_AGENT"]))
        found = search.find(keywords, latest_crawls(opts.crawls, SEARCHED), opts.language or "en", opts.seeds)
        for note in (*found.notes, *([] if found.seeds else [NO_SEEDS])):
            _note(f"  {note}")
        for seed in found.seeds:
            print(f"Seed: {seed.url}  {seed.title} ({seed.source})")
        return {seed.url: f"{seed.source}: {seed.title}" for seed in found.seeds}

    def _words(self, topic: Topic, examples: Sequence[str], opts: argparse.Namespace) -> list[str]:
        from crawlproject.topic.edits import characteristic_words

        with tempfile.TemporaryDirectory(prefix="topic-") as folder:
            probe = self._probe(topic, Path(folder))
            _note(
                f"Fetching {counted(len(examples), 'example')} and up to {counted(opts.sample, 'linked page')}, politely ..."
            )
            looked = probe.look(examples)
            pages = _pages(looked)
            for lost in looked:
                if lost.page is None:
                    _note(f"  {lost.url} could not be fetched")
            behind = _pages(probe.sample(pages, opts.sample, Random(1)))
            return characteristic_words(pages, behind, probe.analyzer, known=topic.keywords, most=opts.words)

    # ------------------------------------------------------------ from-taxonomy

    def _from_taxonomy(self, path: Path, opts: argparse.Namespace) -> None:
        from crawlproject.topic.directory import categories, name_apart, neighbours, read_directory, topic_of

        wanted = {name: [word.strip() for word in getattr(opts, name).split(",") if word.strip()] for name in _FILTERS}
        found = categories(read_directory(path), **wanted, least=opts.least, leaves=opts.leaves)
        if not found:
            raise BadInput(str(path), f"has no category with {opts.least} pages or more")
        random = Random(1)
        sources: dict[str, list[str]] | None = None
        written: set[str] = set()
        for category, listings in found.items():
            draft = topic_of(category, listings, random, seeds=opts.seeds)
            draft = replace(draft, name=name_apart(draft.name, written))
            _write_topic(opts.out / f"{draft.name}.toml", draft)
            if not opts.neighbours:
                continue
            if sources is None:
                sources = self._in_links(opts.neighbours, draft)
            targets = [listing.url for listing in listings]
            seeds = neighbours(targets, sources, random, distance=opts.distance, most=opts.seeds, exactly=opts.exactly)
            if seeds:
                far = replace(draft, name=f"{draft.name}.far", seeds=seeds, targets=targets)
                _write_topic(opts.out / f"{far.name}.toml", far)

    def _in_links(self, web: str, draft: Draft) -> dict[str, list[str]]:
        """For each URL, the pages of a web or crawl that link to it."""
        from crawlproject.commands.seeds import opened
        from crawlproject.topic.edits import topic_text
        from crawlproject.topic.parse import parse_topic

        topic = parse_topic(topic_text(draft), draft.name)
        sources: dict[str, list[str]] = {}
        with opened(web, topic, settings_for(self, topic), agent=self.agent) as source:
            for page, targets in source.links:
                for target in targets:
                    sources.setdefault(target, []).append(page)
        return sources

    # ------------------------------------------------------------ searches

    def _searches(self, path: Path, crawl: Path, opts: argparse.Namespace) -> None:
        from crawlproject.adapters.seed_search import SeedSearch
        from crawlproject.adapters.wanted import wanted, with_wanted
        from crawlproject.configuration import read_options
        from crawlproject.dashboard.crawls import SEARCHED, latest_crawls
        from crawlproject.pages.text.relevance import make_analyzer
        from crawlproject.storage.append_log import write_atomically
        from crawlproject.storage.searches import words_of
        from crawlproject.topic.parse import load_topic, parse_topic

        topic = load_topic(path)
        options = read_options(settings_for(self, topic))
        chosen = [query for query in map(words_of, opts.add.split(",")) if query]
        others = [each for each in latest_crawls(opts.crawls, SEARCHED) if each.resolve() != crawl.resolve()]
        search = SeedSearch(options, str(self.settings["USER_AGENT"]))
        found = wanted(crawl, topic, make_analyzer(topic.language, options), search, others, chosen)
        for each in found:
            searched = each.searched
            print(f"{searched.query}: searched {counted(searched.times, 'time')}, {counted(searched.hits, 'hit')}")
            for seed in each.seeds:
                print(f"  Seed: {seed.url}  {seed.title} ({seed.source})")
        for note in dict.fromkeys(note for each in found for note in each.notes):
            _note(f"  {note}")
        if not chosen:
            files = " ".join(shlex.quote(str(file)) for file in (path, crawl))
            print(f"Take what you want: {program} topic searches {files} --add QUERIES")
            return
        text = path.read_bytes().decode("utf-8-sig")
        new = with_wanted(text, str(path), found, f"searched in {crawl.name}, and not found there")
        parse_topic(new, str(path), folder=path.parent)
        write_atomically(path, [new.encode()])
        print(f"Written: {path}")

    # ------------------------------------------------------------ check

    def _check(self, asked: str, opts: argparse.Namespace) -> None:
        from crawlproject.configuration import read_options
        from crawlproject.core.reading import topic_in_canonical_urls
        from crawlproject.pages.text.relevance import make_analyzer
        from crawlproject.topic.check import check_as_json, check_as_text, weak_as_fetched, weak_as_written
        from crawlproject.topic.folder import find_topic
        from crawlproject.urls.canonical import make_canonicalizer

        topic = find_topic(asked)
        options = read_options(settings_for(self, topic))
        topic = topic_in_canonical_urls(topic, make_canonicalizer(options))
        weaknesses = list(weak_as_written(topic, options, make_analyzer(topic.language, options)))
        seeds: list[SeedPreview] = []
        sample: list[SeedPreview] = []
        if not opts.no_fetch:
            with tempfile.TemporaryDirectory(prefix="topic-") as folder:
                probe = self._probe(topic, Path(folder))
                _note(
                    f"Fetching {counted(len(topic.seeds), 'seed')} and up to {counted(opts.sample, 'linked page')}, politely ..."
                )
                seeds = probe.look(topic.seeds)
                sample = probe.sample(_pages(seeds), opts.sample, Random(options.crawl_seed))
                weaknesses += weak_as_fetched(topic, options, probe.analyzer, seeds, sample)
        show = check_as_json if opts.json else check_as_text
        print(show(topic, seeds, sample, weaknesses))
        if any(weakness.grade != "hint" for weakness in weaknesses):
            self.exitcode = WEAK

    def _probe(self, topic: Topic, folder: Path) -> Any:
        from crawlproject.adapters.preview import Preview
        from crawlproject.configuration import read_options

        return Preview(topic, read_options(settings_for(self, topic)), {**topic.settings, **self.given}, folder)


def _pages(probed: Sequence[SeedPreview]) -> list[Page]:
    return [each.page for each in probed if each.page is not None]


_FILTERS = ("ending", "without")


def _keep_examples(topic: Path, crawl: Path) -> None:
    require_part("judgments")
    from crawlproject.parts.judgments.judged_examples import keep_examples

    kept = keep_examples(topic, crawl)
    for url in kept.lost:
        _note(f"  {url} is no longer stored")
    print(f"Examples of {topic}: {kept.relevant} relevant, {kept.irrelevant} not relevant")


def _write_topic(path: Path, draft: Draft) -> None:
    from crawlproject.storage.append_log import write_atomically
    from crawlproject.topic.edits import topic_text
    from crawlproject.topic.parse import parse_topic

    if path.exists():
        raise BadTopic(str(path), "the file exists; choose another --out")
    text = topic_text(draft)
    parse_topic(text, str(path))
    write_atomically(path, [text.encode()])
    print(f"Written: {path}  {counted(len(draft.seeds), 'seed')}, {counted(len(draft.targets), 'target')}")


# ------------------------------------------------------------ output


def _note(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
