"""The benchmark of search in small: both engines answer the same queries over the same pages."""

from __future__ import annotations

from pathlib import Path

from benchmarks import search


def test_both_engines(tmp_path: Path) -> None:
    search.write_crawl(tmp_path / "crawl", [], 60, tmp_path / "cache")
    found = {name: engine(tmp_path / "crawl") for name, engine in search.ENGINES.items()}
    assert found["tantivy"]["hits"] == found["fts5"]["hits"] > search.QUERIES
    assert all(value > 0 for engine in found.values() for value in engine.values())
