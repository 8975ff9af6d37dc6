"""What remains of several paths to a waiting URL."""

from __future__ import annotations

from dataclasses import replace

from crawlproject.records import CrawlUrl


def best_of_paths(old: CrawlUrl, new: CrawlUrl) -> CrawlUrl:
    """The record of a waiting URL that another link was found to; ``old`` itself when nothing changes.

    The record of the lower class, or of the higher score in one class, the old one of two equals; with the least depth, and
    what the better path hands down.
    """
    takes_over = (new.precedence, -new.score) < (old.precedence, -old.score)
    best, other = (new, old) if takes_over else (old, new)
    inherited = larger_of_each(best.inherited, other.inherited)
    if other.depth >= best.depth and inherited == best.inherited:
        return best
    return replace(best, depth=min(best.depth, other.depth), inherited=inherited)


def larger_of_each(values: tuple[float, ...], others: tuple[float, ...]) -> tuple[float, ...]:
    """Of what two paths hand down, the larger of each value; the first when the paths hand down different things."""
    if values == others or len(values) != len(others):
        return values
    return tuple(map(max, values, others))
