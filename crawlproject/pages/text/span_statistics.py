"""Term statistics of many spans of one sequence at once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from crawlproject.pages.text.terms import Terms, term_counts
from crawlproject.pages.text.vectors import squared_norm

_OVERLAP = 8

Range = tuple[int, int]


def span_squared_norms(terms: Sequence[str], spans: Iterable[Range]) -> dict[Range, int]:
    """The squared norm of the TF vector of each span, exactly.

    Spans that are nested or disjoint are counted together: a span takes over the counts of the largest span inside it
    and adds the rest, so that each term moves O(log n) times and the depth of nesting costs nothing. A span that
    crosses an earlier one, which no tree gives, is counted by itself. In compiled code, where it is quick, each span is,
    unless spans overlap so much that there is more to count than ``_OVERLAP`` times the sequence.
    """
    if isinstance(terms, Terms) and term_counts is not None:
        different = list(set(spans))
        if sum([end - start for start, end in different]) <= _OVERLAP * len(terms):
            return dict(zip(different, term_counts.squared_norms(terms.numbers, different), strict=True))
        spans = different
    norms: dict[Range, int] = {}
    open_spans: list[_SpanTally] = []
    for span in sorted(set(spans), key=lambda span: (span[0], -span[1])):
        while open_spans and open_spans[-1].span[1] <= span[0]:
            _close(open_spans, terms, norms)
        if open_spans and span[1] > open_spans[-1].span[1]:
            norms[span] = int(squared_norm(Counter(terms[span[0] : span[1]])))
        else:
            open_spans.append(_SpanTally(span))
    while open_spans:
        _close(open_spans, terms, norms)
    return norms


class _SpanTally:
    """The counts of a span as far as ``position``, and the sum of their squares."""

    __slots__ = ("counts", "norm", "position", "span")

    def __init__(self, span: Range) -> None:
        self.span = span
        self.position = span[0]
        self.counts: Counter[str] = Counter()
        self.norm = 0

    def advance(self, terms: Sequence[str], position: int) -> None:
        """Count the terms up to ``position``."""
        if position > self.position:
            counts = Counter(terms[self.position : position])
            self.absorb(counts, int(squared_norm(counts)))
            self.position = position

    def absorb(self, counts: Counter[str], norm: int) -> None:
        """Take over counts from elsewhere, the smaller ones into the larger. ``counts`` must not be used afterwards."""
        if len(counts) > len(self.counts):
            self.counts, counts = counts, self.counts
            self.norm, norm = norm, self.norm
        mine = self.counts
        for term, count in counts.items():
            have = mine[term]
            self.norm += count * (2 * have + count)
            mine[term] = have + count


def _close(open_spans: list[_SpanTally], terms: Sequence[str], norms: dict[Range, int]) -> None:
    """End the innermost open span and hand its counts to the one around it."""
    tally = open_spans.pop()
    tally.advance(terms, tally.span[1])
    norms[tally.span] = tally.norm
    if open_spans:
        outer = open_spans[-1]
        outer.advance(terms, tally.span[0])
        outer.absorb(tally.counts, tally.norm)
        outer.position = tally.span[1]
