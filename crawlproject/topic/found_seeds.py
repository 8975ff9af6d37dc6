"""Finds seeds: in files of a user, ranked by a query; the best of several sources; and hubs in a known link graph.

A hub is a page that links to several seed hosts (paper 003 section 6).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice, zip_longest
from pathlib import Path
from urllib.parse import unquote, urlsplit

from crawlproject.errors import BadInput, BadTopic, InvalidUrl
from crawlproject.pages.reader import Reader
from crawlproject.pages.text.relevance import TopicJudge
from crawlproject.pages.text.vectors import cosine
from crawlproject.topic.parse import load_topic
from crawlproject.urls.canonical import canonical_url, with_scheme
from crawlproject.urls.hosts import host_of, is_within

SEEDS = 10  # the number that paper 003 section 6 adds to the seeds of a topic
MOST_BYTES = 16_777_216  # read from a seed file
MOST = 10  # hubs to keep (paper 003 section 6)
MIRROR = 0.9  # paper 003 section 6: a page whose cosine with the description exceeds this is a mirror

_BOOKMARKS = (".htm", ".html")
_NO_WORD = re.compile(r"[\W_]+")
_FEW_TERMS = 10  # any page on the topic may contain all terms of a shorter description in similar proportions


@dataclass(frozen=True, slots=True)
class FoundSeed:
    """A seed that was found: canonical URL, title, source, and similarity to the query if known."""

    url: str
    title: str
    source: str
    similarity: float | None = None


def read_seed_file(path: Path, judge: TopicJudge) -> list[FoundSeed]:
    """The entries of a file that share a term with the query of ``judge``, the most similar first.

    The file is a topic file (``.toml``: its seeds, if its keywords share a term), bookmarks exported by a browser (``.html``),
    or text: a URL per line, followed by words about it; lines that begin with ``#`` are comments. Raises ``BadInput`` for a
    file that cannot be read, and for a line that does not begin with a URL.
    """
    entries = _topic(path) if path.suffix == ".toml" else _links(path, judge)
    found = [
        FoundSeed(url, title or url, path.name, similarity)
        for url, title, words in entries
        if (similarity := judge.similarity(words)) > 0
    ]
    return sorted(found, key=lambda seed: -(seed.similarity or 0.0))


def choose_seeds(sources: Iterable[Sequence[FoundSeed]], most: int = SEEDS) -> list[FoundSeed]:
    """The ``most`` best seeds of several sources, each of which lists its best seeds first.

    Sources take turns, and so do hosts: seeds on many hosts lead a crawl to more of the web than the best pages of one host.
    """
    found: dict[str, FoundSeed] = {}
    for seed in filter(None, chain.from_iterable(zip_longest(*sources))):
        found.setdefault(seed.url, seed)
    turns: Counter[str] = Counter()
    ranked: list[tuple[int, FoundSeed]] = []
    for seed in found.values():
        ranked.append((turns[host_of(seed.url)], seed))
        turns[host_of(seed.url)] += 1
    ranked.sort(key=lambda pair: pair[0])
    return [seed for _, seed in ranked[:most]]


def _topic(path: Path) -> Iterator[tuple[str, str, str]]:
    topic = load_topic(path)
    words = " ".join(topic.keywords)
    return ((url, topic.name, words) for url in topic.seeds)


def _links(path: Path, judge: TopicJudge) -> Iterator[tuple[str, str, str]]:
    try:
        with path.open("rb") as file:
            body = file.read(MOST_BYTES)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise BadInput(f"setting SEED_FILES: {path}", f"cannot be read: {reason}") from None
    if path.suffix.lower() in _BOOKMARKS:
        reader = Reader(judge.analyzer, canonicalize=canonical_url, obey_nofollow=False, obey_meta_robots=False)
        page = reader.read(path.absolute().as_uri(), body)
        return ((link.url, link.anchor, f"{link.anchor} {_words(link.url)}") for link in page.links)
    return _lines(path, body)


def _lines(path: Path, body: bytes) -> Iterator[tuple[str, str, str]]:
    for number, line in enumerate(body.decode("utf-8-sig", "replace").splitlines(), start=1):
        text = line.strip()
        if not text or text.startswith("#"):
            continue
        typed, words = [*text.split(None, 1), ""][:2]
        try:
            url = canonical_url(with_scheme(typed))
        except InvalidUrl as wrong:
            raise BadTopic(f"{path}, line {number}", f"expected a URL, then words about it: {wrong}") from None
        yield url, words, f"{words} {_words(url)}"


def _words(url: str) -> str:
    """The words of the host and path of a URL."""
    parts = urlsplit(url)
    return _NO_WORD.sub(" ", f"{parts.hostname or ''} {unquote(parts.path)}")


@dataclass(frozen=True, slots=True)
class Hub:
    """A page and the seed hosts that it links to, in alphabetical order, without its own host."""

    url: str
    hosts: tuple[str, ...]


def find_hubs(
    links: Iterable[tuple[str, Iterable[str]]],
    seeds: Collection[str],
    *,
    min_hosts: int = 2,
    most: int = MOST,
    unwanted: Collection[str] = (),
    redirects: Mapping[str, str] | None = None,
    is_wanted: Callable[[str], bool] = lambda url: True,
) -> list[Hub]:
    """The ``most`` pages that link to the most seed hosts, at least ``min_hosts``; ties are in alphabetical order.

    ``links`` are pairs of a page and its link targets, all canonical; a page may have several pairs. The page's own host
    does not count, since every page links to its own site. ``redirects`` maps seeds to the URLs that they redirect to: a link
    to the host of such a URL counts as a link to the seed's host. Seeds, ``unwanted`` pages, and pages for which
    ``is_wanted`` (called last) is false are left out.
    """
    landed = {seed: (redirects or {}).get(seed, seed) for seed in seeds}
    seed_hosts = {host_of(target): host_of(seed) for seed, target in landed.items()}
    seed_hosts |= {host_of(seed): host_of(seed) for seed in seeds}
    excluded = {*seeds, *landed.values(), *unwanted}
    pointed: dict[str, set[str]] = {}
    for page, targets in links:
        found = {host for target in targets if (host := seed_hosts.get(host_of(target)))}
        found.discard(seed_hosts.get(host_of(page), ""))
        if found and page not in excluded:
            pointed.setdefault(page, set()).update(found)
    hubs = [Hub(page, tuple(sorted(hosts))) for page, hosts in pointed.items() if len(hosts) >= min_hosts]
    hubs.sort(key=lambda hub: (-len(hub.hosts), hub.url))
    return list(islice((hub for hub in hubs if is_wanted(hub.url)), most))


def is_mirror(counts: Mapping[str, int], description: Mapping[str, int]) -> bool:
    """Whether a page, given as its term counts, repeats the topic's description. It may then list seeds and targets, too.

    The page is projected onto the terms of the description, to ignore text that a mirror adds. It is a mirror if the cosine
    then exceeds ``MIRROR``. With a description of fewer than ten distinct terms, no page is a mirror.
    """
    if len(description) < _FEW_TERMS:
        return False
    return cosine({term: counts[term] for term in description if term in counts}, description) > MIRROR


def is_below(url: str, domains: Collection[str]) -> bool:
    """Whether the host of ``url`` is one of the domains or a subdomain of one."""
    return is_within(host_of(url), domains)
