"""The evidence behind a report: ``report.json``, reasons in words, and excerpts of pages.

``report.json`` has the numbers of a report, how each is counted, and the lines of the crawl folder that were counted.
``WORDS`` explain why links are refused, by the code under which they are counted; ``FAILED`` explain why fetches brought no
page. Excerpts of the best pages show why these count as relevant.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from crawlproject.reports.summary import CrawlSummary
from crawlproject.reports.tallies import LINES, LineSample
from crawlproject.storage.append_log import ITEMS, open_to_read, parse_line

EVIDENCE = "report.json"
EVIDENCE_SIGNS = (b'{"numbers":[{"anchor":',)
WORDS = {
    "seed/no_url": "a pushed seed is not a URL",
    "scope/domain": "outside CRAWL_ALLOWED_DOMAINS",
    "filter/host": "you excluded its host (CRAWL_EXCLUDED, CRAWL_EXCLUDED_FILE)",
    "filter/domain": "you excluded its domain (CRAWL_EXCLUDED, CRAWL_EXCLUDED_FILE)",
    "filter/pattern": "you excluded such URLs (CRAWL_EXCLUDED, CRAWL_EXCLUDED_FILE)",
    "trap/redundant": "it shows what other pages show: a sort order, a reply, a single post (TRAP_REDUNDANT)",
    "trap/scheme": "neither http nor https",
    "trap/too_long": "the URL is very long (TRAP_MAX_URL_LENGTH)",
    "trap/extension": "not a page by its file name: an image, an archive, a program, ...",
    "trap/too_deep": "too many links away from a seed (TRAP_MAX_DEPTH)",
    "trap/too_many_segments": "very many folders in the path (TRAP_MAX_SEGMENTS)",
    "trap/repeated_segments": "the path repeats itself, as endless sites do (TRAP_MAX_SEGMENT_REPEATS)",
    "trap/nested_query": "a parameter in its own value again and again, as in links to a login (TRAP_MAX_SEGMENT_REPEATS)",
    "trap/host_full": "its host has had its share of URLs (TRAP_MAX_URLS_PER_HOST)",
    "dust/respelled": "the same page has another URL, by a learned rule",
    "dust/copy": "the same page was known under another URL, by a learned rule",
    "page/nofollow": "the page asks that its links are not followed (PAGE_OBEY_META_ROBOTS)",
    "ordering/not_followed": "the ordering does not follow such links",
    "frontier/full": "the frontier was full of better URLs (FRONTIER_MAX_URLS)",
    "robots/forbidden": "robots.txt forbids it",
    "robots/unreachable": "robots.txt could not be fetched, so nothing of the host may be",
    "robots/wildcards": "its robots.txt takes too long to match: it counts as forbidding all",
    "safety/address": "it leads to an address that is not public (CRAWL_ALLOWED_ADDRESSES)",
    "safety/port": "a port that web servers do not use (CRAWL_ALLOWED_PORTS)",
    "safety/decompression": "the body is a bomb, or packed more than twice",
    "flood/head": "the head of the response was far too long",
    "flood/interim": "too many interim responses",
    "flood/overhead": "the response was mostly overhead",
    "flood/work": "the response took too much work to read",
    "flood/slow": "the response came far too slowly",
    "sitemap/foreign": "a sitemap listed a page of another host",
    "sitemap/surplus": "a sitemap listed more pages than are taken (CRAWL_SITEMAP_URLS)",
    "feed/surplus": "a feed listed more pages than are taken (CRAWL_SITEMAP_URLS)",
    "feed/too_many": "the host has had as many feeds as are read (CRAWL_FEEDS)",
    "sitemap/too_many": "the host has had as many sitemaps as are read (CRAWL_SITEMAPS)",
    "host/given_up": "the crawl gave up its host, which blocks crawlers or is parked",
    "scrapy/ignored": "another middleware of Scrapy refused it",
}
FAILED = {
    "CannotResolveHostError": "the name of the host has no address",
    "DownloadConnectionRefusedError": "nothing listens there: the connection was refused",
    "DownloadTimeoutError": "no answer in time (DOWNLOAD_TIMEOUT)",
    "TimeoutError": "no answer in time (DOWNLOAD_TIMEOUT)",
    "timeout": "no answer in time (DOWNLOAD_TIMEOUT)",
    "DownloadFailedError": "the connection broke off",
    "no network": "no host answered any more: this machine, or its way to the web, was cut off",
    "tls ": "the server and the crawler do not agree on TLS",
    "noindex": "the page asks not to be kept; its links were followed",
    "needs_browser": "scripts make its text, and were not run or brought nothing; its links were followed",
    "block/": "a page for robots instead, such as a captcha or a form of consent",
    "parked": "the domain is parked: advertisements, or it is for sale",
    "soft_404": "the host answers like this to pages that do not exist",
    "document/broken": "it is called a PDF, DOCX or EPUB, and cannot be read as one",
    "document/cut": "the document is longer than PAGE_DOCUMENT_BYTES",
    "document/encrypted": "the document is protected by a password",
    "document/textless": "the document has no text: mostly pictures of pages",
    "document/": "reading the document took too much time or memory",
    "content type ": "not a page",
    "too_many_redirects": "it only led on and on",
    "http 401": "it asks for a password",
    "http 403": "the server refuses it to crawlers, or to all",
    "http 404": "there is no such page",
    "http 410": "the page is gone",
    "http 429": "the server asks for fewer requests",
    "http 5": "a fault of the server",
}  # the meaning of the outcome of a fetch without a page, by its prefix; ``WORDS`` have further outcomes
LENGTH = 220  # most characters of an excerpt

_SENTENCE = re.compile(r"[^.!?。！？\n]+[.!?。！？]*")
_WORD = re.compile(r"\w+")
_STEM = 5  # leading characters by which words are compared: bleached and bleaching are equal


class Number(NamedTuple):
    """A number of the report: anchor, name, value, ``how`` it is counted, and ``again``, a shell command to count it again."""

    anchor: str
    name: str
    value: float | None
    how: str
    again: str = ""


def meaning(outcome: str) -> str:
    """Return the meaning of a refusal, or of a fetch that brought no page; empty if it is unknown."""
    return WORDS.get(outcome) or next((words for begin, words in FAILED.items() if outcome.startswith(begin)), "")


def numbers(summary: CrawlSummary, threshold: float) -> list[Number]:
    """Return the headline numbers."""
    relevant = summary.relevant(threshold)
    stored = """select(.md5 != "" and (.number // 1) == 1)"""
    again = Number(
        "revisits", "fetches of known pages", summary.revisits, "lines of history.jsonl with a number above 1",
        "jq -r 'select((.number // 1) > 1) | .url' history.jsonl | wc -l",
    )  # fmt: skip
    return [
        Number(
            "pages", "pages stored", summary.pages, "lines of history.jsonl with an md5, each md5 once",
            f"jq -r '{stored} | .md5' history.jsonl | sort -u | wc -l",
        ),
        Number(
            "harvest", "relevant pages", relevant, f"those of them with a relevance of at least {threshold:g}",
            f"jq -r '{stored} | select(.relevance >= {threshold:g}) | .md5' history.jsonl | sort -u | wc -l",
        ),
        Number(
            "relevance", "mean relevance", summary.mean_relevance if summary.pages else None,
            "mean of relevance over these pages",
            f"jq -s 'map({stored} | .relevance) | add / length' history.jsonl",
        ),
        Number("fetches", "fetches", summary.fetches, "lines of history.jsonl", "wc -l < history.jsonl"),
        *([again] if summary.revisits else []),
        Number(
            "visited", "hosts visited", summary.hosts, "hosts of all URLs in history.jsonl",
            "jq -r .url history.jsonl | cut -d/ -f3 | cut -d: -f1 | sort -u | wc -l",
        ),
        Number(
            "time", "crawling time in seconds", summary.active if summary.fetches else None,
            "from started in crawl.json, and each of its resumes, to the last fetch of that run, by at in history.jsonl, without "
            "breaks of more than ten minutes",
        ),
        Number("speed", "pages a second", summary.pages_per_second, "pages stored divided by the crawling time"),
        Number(
            "copies-counted", "duplicates of other pages", summary.problems.copies.count, "stored pages with a duplicate_of",
            f"""jq -r '{stored} | select((.duplicate_of // "") != "") | .md5' history.jsonl | sort -u | wc -l""",
        ),
    ]  # fmt: skip


def evidence(summary: CrawlSummary, threshold: float) -> dict[str, Any]:
    """Return every count of the report, with the numbers (from 1) of the first ``LINES`` counted lines of ``history.jsonl``."""
    problems = summary.problems
    return {
        "numbers": [number._asdict() for number in numbers(summary, threshold)],
        "lines_listed": LINES,
        "best": [
            {"line": line, "url": visit.url, "relevance": visit.relevance}
            for line, visit in zip(summary.best_lines, summary.best, strict=True)
        ],
        "hosts": [host._asdict() for host in summary.every_host],
        "too_soon": _lines(summary.early),
        "failures": {failure.kind: _lines(failure.lines) for failure in problems.failures},
        "redirects": _lines(problems.redirects),
        "listings": _lines(problems.listings),
        "fetched_again": _lines(problems.refetched),
        "copies": {**_lines(problems.copies), "originals": dict(problems.originals)},
        "spam": {
            **_lines(problems.spam),
            "worst": [{"line": line, "url": visit.url, "spam": visit.spam} for line, visit in problems.spammy],
        },
        "farms": _lines(problems.farmed),
    }


def _lines(lines: LineSample) -> dict[str, Any]:
    return {"count": lines.count, "lines": lines.first}


def excerpts(crawl_dir: Path, urls: Collection[str], keywords: Sequence[str]) -> dict[str, str]:
    """Map those ``urls`` whose text is stored to excerpts. Reads ``items.jsonl`` once, and parses only the lines of ``urls``."""
    path = crawl_dir / ITEMS
    found: dict[str, str] = {}
    if not path.exists():
        return found
    wanted = set(urls)
    with open_to_read(path) as file:
        for number, line in enumerate(file, start=1):
            if line.endswith(b"\n") and _url_of(line) in wanted:
                item = parse_line(line, path, number)
                if isinstance(item, Mapping) and item.get("text"):
                    found[str(item["url"])] = excerpt(str(item["text"]), keywords)
    return found


def _stems(text: str) -> set[str]:
    """The beginnings of the words, without the s of a plural."""
    return {word.lower()[:_STEM].removesuffix("s") for word in _WORD.findall(text)}


def excerpt(text: str, keywords: Sequence[str]) -> str:
    """Return about ``LENGTH`` characters of ``text``, from the run of sentences with most distinct words of the keywords on."""
    wanted = {stem for keyword in keywords for stem in _stems(keyword)}
    sentences = [found for found in _SENTENCE.finditer(text) if not found[0].isspace()]
    best, most = 0, -1
    for number, sentence in enumerate(sentences):
        end = max(
            (later.end() for later in sentences[number : number + 4] if later.end() - sentence.start() <= LENGTH),
            default=0,
        )
        seen = _stems(text[sentence.start() : end or sentence.end()])
        if len(seen & wanted) > most:
            best, most = number, len(seen & wanted)
    start = sentences[best].start() if sentences else 0
    passage = " ".join(text[start : start + 2 * LENGTH].split())
    return passage if len(passage) <= LENGTH else f"{passage[:LENGTH].rpartition(' ')[0] or passage[:LENGTH]} …"


def _url_of(line: bytes) -> str:
    """Return the URL at the beginning of the line of an item; empty if the line is written in another way."""
    head, _, rest = line.partition(b'{"url":"')
    return "" if head else rest.partition(b'"')[0].decode("utf-8", "replace")
