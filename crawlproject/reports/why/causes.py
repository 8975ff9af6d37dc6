"""Why a URL that a crawl knew of was neither fetched nor waits: the rules are asked again, and the counts are looked at.

A crawl may leave out millions of URLs, so that none of them leaves a trace of its own. What it left of each is enough: the
links to it, and the settings. Rules that look at the URL alone give the same answer as they did then. When these let it
in, and the frontier does not know it, then it was dropped there or not wanted by the ordering; the counts tell which of these
happened at all.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path

from crawlproject.crawl.reading import make_traps
from crawlproject.crawl.robots import RobotsRules
from crawlproject.errors import BadInput
from crawlproject.inspection.duplicates.url_rule import parts_of, spelled
from crawlproject.inspection.duplicates.url_rule_store import read_rules
from crawlproject.options import Options, read_options
from crawlproject.orderings.registry import ORDERINGS
from crawlproject.reports.why.lookup import Cause
from crawlproject.storage.read import CrawlInfo, RefusalCounts, read_refused
from crawlproject.storage.robots_log import read_robots
from crawlproject.urls.hosts import host_of, origin_of

SCOPE = "scope/domain"
ROBOTS = "robots/forbidden"
RESPELLED = "dust/respelled"
EVICTED = "frontier/evicted"
PUT_ASIDE = "ordering/put_aside"
NOT_FOLLOWED = "ordering/not_followed"

_SENTENCES = {
    SCOPE: "its host is outside of CRAWL_ALLOWED_DOMAINS",
    ROBOTS: "the robots.txt of its host, as it was when it was asked for last, forbids it",
    "frontier/full": "the frontier was full of better URLs when the link was found",
    EVICTED: "it waited, and was dropped because the frontier was full of better URLs",
    PUT_ASIDE: "the ordering put it aside as not worth a fetch so far; it may call it back",
    NOT_FOLLOWED: "the ordering said that the links to it are not to be followed",
    "trap/host_full": "its host had as many URLs as may enter (TRAP_MAX_URLS_PER_HOST)",
    "host/given_up": "its host was given up: it blocks, or is parked",
    "copies": "the pages with links to it are copies of others, whose links are not followed",
}


def causes(
    folder: Path, info: CrawlInfo, url: str, *, depth: int, known: bool, evicted: int, copied: bool, agent: str = ""
) -> list[Cause]:
    """Why ``url`` is left out. One that is certain stands alone; else all that are possible, the most frequent first.

    ``depth`` is that of the nearest page with a link to it, plus one. ``known``: the frontier knows it. ``evicted``: how many
    URLs the frontier dropped. ``copied``: all pages with links to it are copies. ``agent`` is the name that robots.txt is asked
    about, empty: it is not asked. Raises ``BadCrawlDir``.
    """
    options = _options_of(info)
    refused = {refusal.reason: refusal for refusal in read_refused(folder)}
    certain = next(_certain(folder, options, url, depth, agent), None)
    if certain is not None:
        count = refused[certain.reason].count if certain.reason in refused else 0
        return [Cause(certain.reason, certain.words, count, certain=True)]
    if known:  # it got in, and left when its turn came
        return []
    if copied:
        return [Cause("copies", _SENTENCES["copies"], certain=True)]
    found = list(_possible(info, refused, url, evicted))
    return sorted(found, key=lambda cause: -cause.count)


def _certain(folder: Path, options: Options, url: str, depth: int, agent: str) -> Iterator[Cause]:
    domains = [domain.lower().lstrip(".") for domain in options.crawl_allowed_domains]
    host = host_of(url)
    if domains and not any(host == domain or host.endswith("." + domain) for domain in domains):
        yield Cause(SCOPE, _SENTENCES[SCOPE])
    rule = make_traps(options).refusal(url, depth)
    if rule:
        yield Cause(f"trap/{rule}", f"the trap rule {rule} refuses it")
    stand_in, rules = respelling(folder, url)
    if stand_in != url:
        yield Cause(RESPELLED, f"it is crawled as {stand_in}, by the learned rule {', '.join(rules)}")
    if agent and _is_forbidden(folder, url, agent):
        yield Cause(ROBOTS, _SENTENCES[ROBOTS])


def _possible(info: CrawlInfo, refused: dict[str, RefusalCounts], url: str, evicted: int) -> Iterator[Cause]:
    for reason in ("frontier/full", NOT_FOLLOWED, "trap/host_full"):
        if reason in refused:
            yield Cause(reason, _SENTENCES[reason], refused[reason].count)
    given_up = refused.get("host/given_up")
    if given_up and (given_up.count > len(given_up.samples) or host_of(url) in _hosts(u for u, _ in given_up.samples)):
        yield Cause(given_up.reason, _SENTENCES[given_up.reason], given_up.count)
    if evicted:
        yield Cause(EVICTED, _SENTENCES[EVICTED], evicted)
    if info.ordering in ORDERINGS and ORDERINGS[info.ordering].puts_aside:
        yield Cause(PUT_ASIDE, _SENTENCES[PUT_ASIDE])


def respelling(folder: Path, url: str) -> tuple[str, list[str]]:
    """The URL that learned rules put in the place of ``url``, and these rules; ``url`` itself when none speaks of it."""
    parts, spoken = parts_of(url), []
    entries = [entry for entry in read_rules(folder).values() if entry.holds and not entry.off]
    for entry in sorted(entries, key=lambda entry: (entry.rule.kind == "mirror", entry.rule)):
        if (changed := entry.rule.normal(parts)) != parts:
            parts = changed
            spoken.append(str(entry.rule))
    return (spelled(parts), spoken) if spoken else (url, [])


def _is_forbidden(folder: Path, url: str, agent: str) -> bool:
    asked = f"{origin_of(url)}/robots.txt"
    last = None
    for exchange in read_robots(folder):
        if exchange.url == asked:
            last = exchange
    return last is not None and not RobotsRules(last.status, last.body, 0.0, agent).allows(url)


def _hosts(urls: Iterator[str]) -> Collection[str]:
    found = set()
    for url in urls:
        if url.count("/") >= 3:
            found.add(host_of(url))
    return found


def _options_of(info: CrawlInfo) -> Options:
    """The settings of a crawl as its manifest has them; a newer program may not know all of them."""
    known = {name.upper() for name in Options.model_fields}
    given = {name: value for name, value in info.settings.items() if name in known and name != "ORDERING_PARAMETERS"}
    try:
        return read_options(given)
    except BadInput:  # written by another version: its rules cannot be asked again
        return read_options({})
