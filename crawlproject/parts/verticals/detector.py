"""Makes the template of a site from some of its pages: which repeated parts are its units.

A single page may mislead: a thread with two posts, a margin with more text than its page. What repeats with different content on
several pages of a site is what its software writes for each unit.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable

from crawlproject.parts.verticals.layout import LayoutDocument, best_group, read_layout
from crawlproject.parts.verticals.repeated_parts import Path
from crawlproject.parts.verticals.site_template import GeneralTemplate, Layout
from crawlproject.parts.verticals.structured_data import text_of

PAGES = 24  # of a site that are enough to make its template
_PAGES_AT_LEAST = 2  # on which a path must be the best
_NEW = 0.5  # share of the texts of a path that must be on one page only


class DetectedTemplate(GeneralTemplate):
    """The template of a site whose paths of units are known, each with its kind: ``post``, ``entry`` or ``article``."""

    def __init__(self, paths: dict[Path, str] | None = None) -> None:
        self.paths = paths or {}

    def layout(self, url: str, body: bytes, content_type: str = "") -> Layout:
        document = LayoutDocument(url, body, content_type)
        return Layout() if document.root is None else read_layout(document, self.paths)


def detect_template(pages: Iterable[tuple[str, bytes, str]]) -> DetectedTemplate:
    """The template of the site of ``pages``: URL, body, content type of each; the first ``PAGES`` are examined."""
    votes: dict[Path, Counter[str]] = defaultdict(Counter)
    texts: dict[Path, Counter[int]] = defaultdict(Counter)
    for number, (url, body, content_type) in enumerate(pages):
        if number >= PAGES:
            break
        document = LayoutDocument(url, body, content_type)
        if document.root is None:
            continue
        kind, parts = best_group(document)
        if not kind:
            continue
        path = next(path for path, group in document.groups.items() if group[0] in parts or parts[0] in group)
        votes[path][kind] += 1
        texts[path].update({hash(text_of(part.element)) for part in parts})
    paths = {}
    for path, kinds in votes.items():
        kind, times = kinds.most_common(1)[0]
        own = sum(1 for count in texts[path].values() if count == 1)
        if times >= _PAGES_AT_LEAST and own >= _NEW * len(texts[path]):
            paths[path] = kind
    return DetectedTemplate(paths)
