"""Turns the links of a page into rows of a ``LinkTable``, with their terms and groups."""

from __future__ import annotations

import numpy as np

from crawlproject.orderings.adaptive.link_features import LinkFeatures
from crawlproject.orderings.adaptive.link_table import WORDS_KEPT, LinkTable, Mask, Rows, UrlSet
from crawlproject.orderings.adaptive.terms import TermStatistics, UrlWords
from crawlproject.pages.text.counting import Numbers
from crawlproject.records import IMPLIED, Link, Page
from crawlproject.urls.hosts import folder_of, host_of

RECOMMENDED = 10  # hosts that a seed may link to before its recommendation is divided among them


class RowsOfLinks:
    """Adds rows to ``table`` for URLs neither in it nor in ``ended``, with groups of ``evidence`` and term numbers."""

    def __init__(
        self, table: LinkTable, evidence: LinkFeatures, terms: TermStatistics, words: UrlWords, ended: UrlSet
    ) -> None:
        self._table = table
        self._evidence = evidence
        self._terms = terms
        self._words = words
        self._ended = ended

    def note(self, page: Page, text: Numbers, worth: float) -> tuple[Rows, Mask]:
        """The rows of the page's waiting links, each once, and which of them are new; ``text`` is the terms of the page."""
        table, ended = self._table, self._ended
        links: dict[str, Link] = {}
        for link in page.links:
            links.setdefault(link.url, link)
        found: list[int] = []  # -1 for a new URL
        known: dict[int, Link] = {}  # rows for which this is the best linking page so far
        new: dict[str, Link] = {}
        for (url, link), row in zip(links.items(), map(table.row, links), strict=True):
            if row is not None:
                found.append(row)
                if table.meet(row, worth):
                    known[row] = link
            elif url not in ended:
                found.append(-1)
                new[url] = link
        rows = np.array(found, np.int64)
        fresh = rows < 0
        rows[fresh] = added = table.add(new, worth)
        if known:
            better = np.fromiter(known, np.int64, len(known))
            self._describe(np.concatenate((better, added)), [*known.values(), *new.values()], text, page.url, better)
        elif new:
            self._describe(added, list(new.values()), text, page.url, added[:0])
        if page.depth == 0 and len(rows):
            hosts, first = np.unique(table.groups[rows, 0], return_index=True)
            others = rows[first[hosts != self._evidence.host_number(host_of(page.url))]]
            table.seeded[others] = np.maximum(table.seeded[others], min(1.0, RECOMMENDED / max(1, len(others))))
        return rows, fresh

    def _describe(self, rows: Rows, links: list[Link], text: Numbers, parent: str, known: Rows) -> None:
        """Set the terms and groups of rows from their links on the page ``parent``, whose terms are ``text``.

        The ``known`` rows lose the groups of their former best page.
        """
        urls, host = [link.url for link in links], host_of(parent)
        words = self._words.numbers(urls, WORDS_KEPT, self._terms.ids)
        anchors, contexts = [link.anchor_span for link in links], [link.context_span for link in links]
        self._table.describe(rows, text, anchors, contexts, words)
        self._evidence.leave(self._table.groups[known])
        # Implied links share one place on all hosts.
        places = [(host if link.tag_path != IMPLIED else "", link.tag_path) for link in links]
        self._table.groups[rows] = self._evidence.join(
            list(map(host_of, urls)), list(map(folder_of, urls)), places, parent
        )
