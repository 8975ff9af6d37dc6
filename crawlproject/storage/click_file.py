"""A file of clicks: how often users of a search engine opened each page, by query."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from math import inf
from pathlib import Path

from crawlproject.errors import BadInput
from crawlproject.urls.canonical import Canonicalizer, canonical_or_none

WISH = "expected a query, a URL and a number of clicks above 0, with tabs between them"


def read_clicks(path: Path) -> Mapping[str, Mapping[str, float]]:
    """The clicks by query and canonical URL. Each line of the file has a query, a URL and a number, separated by tabs.

    Clicks of several lines add up. Empty lines, and those that begin with #, are ignored. Raises ``BadInput``, which names
    file and line.
    """
    canonicalize = Canonicalizer()
    clicks: defaultdict[str, defaultdict[str, float]] = defaultdict(lambda: defaultdict(float))
    for place, line in _lines(path):
        query, url, number = _fields(place, line)
        canonical = canonical_or_none(canonicalize, url)
        if canonical is None:
            raise BadInput(place, f"expected an http or https URL, not {url!r}")
        clicks[query][canonical] += number
    if not clicks:
        raise BadInput(str(path), WISH)
    return clicks


def clicks_by_url(clicks: Mapping[str, Mapping[str, float]]) -> Mapping[str, float]:
    """The clicks of each page, whatever the query."""
    found: defaultdict[str, float] = defaultdict(float)
    for query in clicks.values():
        for url, number in query.items():
            found[url] += number
    return found


def _lines(path: Path) -> Iterator[tuple[str, str]]:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as wrong:
        raise BadInput(f"clicks file {path}", f"expected a readable file in UTF-8: {wrong}") from None
    for number, line in enumerate(text.splitlines(), start=1):
        if line.strip() and not line.startswith("#"):
            yield f"{path}, line {number}", line


def _fields(place: str, line: str) -> tuple[str, str, float]:
    try:
        query, url, count = line.split("\t")
        clicks = float(count)
    except ValueError:
        raise BadInput(place, WISH) from None
    if not 0 < clicks < inf:
        raise BadInput(place, WISH)
    return query, url, clicks
