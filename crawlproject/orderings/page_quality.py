"""The quality of a page, whatever its topic, from features of its text (Bendersky, Croft and Diao, WSDM 2011)."""

from __future__ import annotations

from collections.abc import Set
from math import log2

import numpy as np

from crawlproject.pages.text.terms import frequencies
from crawlproject.records import Page

MOST = 20_000  # words of a page that are read
# The values from which a feature is 1.
WORDS = 1_000
BITS = 9.0  # entropy
SHARE = 0.4  # share of stop words among the words, as in prose
COVER = 0.25  # share of the list of stop words that occurs


def page_quality(page: Page, stop_words: Set[str]) -> float:
    """The mean of ``quality_features``: 0 to 1."""
    features = quality_features(page, stop_words)
    return sum(features.values()) / len(features)


def quality_features(page: Page, stop_words: Set[str]) -> dict[str, float]:
    """The features by name, 0 to 1, where higher is better; all 0 for a page without terms.

    Five of the ten features of the source, those that need no mark-up and have one direction: the number of words, the share
    of stop words and the number of different ones, the entropy of the terms, and the share of the text outside anchors.
    """
    words = page.text[: 8 * MOST].lower().split()[:MOST]
    times = np.array(frequencies(page.counts), np.float64)
    terms = float(times.sum())
    if not terms:
        return dict.fromkeys(("words", "stop words", "cover", "entropy", "own text"), 0.0)
    stops = [word for word in words if word in stop_words]
    entropy = log2(terms) - float(times @ np.log2(times)) / terms
    linked = sum(link.anchor_span.end - link.anchor_span.start for link in page.links)
    return {
        "words": min(1.0, log2(1 + len(words)) / log2(1 + WORDS)),
        "stop words": min(1.0, len(stops) / max(1, len(words)) / SHARE),
        "cover": min(1.0, len(set(stops)) / max(1, len(stop_words)) / COVER),
        "entropy": min(1.0, max(0.0, entropy) / BITS),
        "own text": max(0.0, 1 - linked / terms),
    }
