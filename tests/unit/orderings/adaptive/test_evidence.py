"""The two implementations of evidence, compiled and numpy, give the same results to the last bit."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from crawlproject.orderings.adaptive import link_features, link_table
from crawlproject.orderings.adaptive.link_features import KINDS, LinkFeatures
from crawlproject.orderings.adaptive.link_table import WIDTH, WORDS_KEPT, LinkTable, Rows
from crawlproject.orderings.adaptive.terms import TermStatistics
from crawlproject.records import Span

pytest.importorskip("crawlproject.orderings.adaptive.evidence", reason="not compiled")


def made_up(random: np.random.Generator, rows: int, without: tuple[str, ...]) -> tuple[LinkFeatures, Rows]:
    """Features in a state that a crawl may produce, and some rows of their table."""
    table, terms = LinkTable(rows=1), TermStatistics()
    features = LinkFeatures(table, terms, terms.numbers(["coral", "reef", "fish"]), without)
    vocabulary = terms.numbers(f"term{number}" for number in range(500))
    for _ in range(12):
        page = random.choice(vocabulary, 60)
        page[:3] = random.integers(0, 4, 3)
        features.feedback.observe(random.random(), *terms.observe(page))
    features.refresh()
    terms.numbers(f"late{number}" for number in range(9_000))  # weigh nothing before the next refresh
    for number in range(rows):
        (row,) = table.add([f"u{number}"], random.random() * random.integers(0, 2))
        table.terms[row] = random.integers(0, 700, WIDTH) * random.integers(0, 2, WIDTH)
        names = [f"{name}" for name in random.integers(0, 5, 4)]
        table.groups[row] = features.join([names[0]], [names[1]], [(names[2], "")], names[3])[0]
        for _ in range(random.integers(0, 4)):
            table.meet(row, random.random())
        if random.random() < 0.5:
            features.learn(table.groups[row], random.random(2))
    return features, random.permutation(rows)[: random.integers(1, rows + 1)].astype(np.int64)


@pytest.fixture
def in_numpy(monkeypatch) -> Callable[[LinkFeatures, Rows], np.ndarray]:
    def of(features: LinkFeatures, rows: Rows) -> np.ndarray:
        with monkeypatch.context() as patch:
            patch.setattr(link_features, "evidence", None)
            return features.of(rows)

    return of


@pytest.mark.parametrize("without", [(), ("family", "around", "always")])
@pytest.mark.parametrize("rows", [1, 2, 7, 40, 1000])
def test_any_rows(rows: int, without: tuple[str, ...], in_numpy) -> None:
    for seed in range(20 if rows < 100 else 2):
        features, asked = made_up(np.random.default_rng(seed), rows, without)
        found, expected = features.of(asked), in_numpy(features, asked)
        assert found.shape == expected.shape == (2, len(asked), len(KINDS))
        different = [
            KINDS[kind] for kind in range(len(KINDS)) if not np.array_equal(found[..., kind], expected[..., kind])
        ]
        assert not different, different


def test_no_rows(in_numpy) -> None:
    features, _ = made_up(np.random.default_rng(1), 3, ())
    none = np.zeros(0, np.int64)
    assert features.of(none).shape == in_numpy(features, none).shape == (2, 0, len(KINDS))


@pytest.mark.parametrize("terms", [0, 1, 9, 300])
def test_any_spans(terms: int, monkeypatch) -> None:
    random = np.random.default_rng(terms)
    text = random.integers(1, 1000, terms).astype(np.int32)
    for links in (0, 1, 50):
        spans = [[Span(*sorted(random.integers(0, terms + 1, 2).tolist())) for _ in range(links)] for _ in range(2)]
        words = random.integers(0, 9, (links, WORDS_KEPT)).astype(np.int32)
        compiled, interpreted = LinkTable(), LinkTable()
        for table in (compiled, interpreted):
            table.terms[:] = 7  # of rows before
            rows = np.array(table.add([f"u{number}" for number in range(links)], 0.5), np.int64)
            with monkeypatch.context() as patch:
                if table is interpreted:
                    patch.setattr(link_table, "evidence", None)
                table.describe(rows, text, *spans, words)
        assert np.array_equal(compiled.terms, interpreted.terms)
