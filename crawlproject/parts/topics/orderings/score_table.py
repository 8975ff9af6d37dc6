"""Waiting URLs with a score for each topic, and their ranks among all that wait."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import numpy as np
import numpy.typing as npt

Vector = npt.NDArray[np.float64]

ACTIVE = 512  # best URLs, whose scores the frontier has to know exactly
MOVED = 0.02  # a larger change of a value is reported to the frontier
MOST = 65_536  # rows; the worst are dropped, and keep the score that the frontier has
SAMPLE = 2_048  # scores from which ranks are computed
NOT_FOLLOWED = -np.inf


class ScoreTable:
    """A row for each URL: its score for each topic (``NOT_FOLLOWED``: none), and the value last reported to the frontier."""

    def __init__(self, rows: int = 1024) -> None:
        self._rows: dict[str, int] = {}
        self._free: list[int] = []
        self._urls: list[str] = []
        self._waits = np.zeros(rows, bool)
        self._scores = np.zeros((0, rows))
        self._told = np.zeros(rows)
        self._scales: list[Vector] = []  # for each topic, the sorted scores of the waiting URLs

    def __len__(self) -> int:
        return len(self._rows)

    def __contains__(self, url: str) -> bool:
        return url in self._rows

    def add_topic(self) -> None:
        """Add a topic, for which no URL has a score yet."""
        self._scores = np.vstack([self._scores, np.full((1, self._scores.shape[1]), NOT_FOLLOWED)])
        self._scales.append(np.zeros(0))

    def remove_topic(self, index: int) -> None:
        """Remove the topic with this number."""
        self._scores = np.delete(self._scores, index, axis=0)
        del self._scales[index]

    # ------------------------------------------------------------ rows

    def note(self, url: str, scores: Mapping[int, float]) -> int:
        """Note these scores of a URL by topic, where they are higher than before; return its row."""
        row = self._rows.get(url)
        if row is None:
            row = self._new(url)
        for topic, score in scores.items():
            self._scores[topic, row] = max(self._scores[topic, row], score)
        return row

    def set(self, url: str, topic: int, score: float) -> None:
        """Set the score of a URL for one topic, if it has a row."""
        row = self._rows.get(url)
        if row is not None:
            self._scores[topic, row] = score

    def tell(self, url: str, value: float) -> float:
        """Note that the frontier gets this value of a URL, unless it has a higher one; return the value."""
        row = self._rows[url]
        self._told[row] = max(self._told[row], value)
        return value

    def remove(self, url: str) -> None:
        """Remove a URL that no longer waits."""
        row = self._rows.pop(url, None)
        if row is not None:
            self._waits[row] = False
            self._urls[row] = ""
            self._free.append(row)

    def rename(self, url: str, target: str) -> None:
        """Let ``target`` wait in place of ``url``."""
        if target in self._rows:
            self.remove(url)
        elif url in self._rows:
            row = self._rows[target] = self._rows.pop(url)
            self._urls[row] = target

    # ------------------------------------------------------------ ranks

    def ranks_of(self, url: str, scores: Mapping[int, float], unranked: float) -> Vector:
        """Note scores of a URL; return its rank for each topic, ``unranked`` where there is nothing to compare with."""
        row = self.note(url, scores)
        return np.array([self._rank(topic, row, unranked) for topic in range(len(self._scales))])

    def ranks(self, url: str) -> Vector | None:
        """The rank of a URL for each topic, 0 to 1; None for a URL without a row."""
        row = self._rows.get(url)
        return None if row is None else np.array([self._rank(topic, row, 0.0) for topic in range(len(self._scales))])

    def rank(self, value: Callable[[Vector], Vector]) -> Iterator[tuple[str, float]]:
        """Rank all again; yield the values to report to the frontier. ``value`` turns ranks, (topics, URLs), into values."""
        rows = np.flatnonzero(self._waits)
        if not len(rows):
            return
        scores = self._scores[:, rows]
        step = -(-len(rows) // SAMPLE)
        self._scales = [np.sort(of[::step]) for of in scores]
        ranks = [np.searchsorted(scale, of) / len(scale) for scale, of in zip(self._scales, scores, strict=True)]
        values = value(np.array(ranks)) if ranks else np.zeros(len(rows))
        least = np.partition(values, -ACTIVE)[-ACTIVE] if len(values) > ACTIVE else -np.inf
        told = self._told[rows]
        moved = np.flatnonzero(((values >= least) | (told >= least)) & (np.abs(values - told) > MOVED))
        self._told[rows[moved]] = values[moved]
        urls = [self._urls[row] for row in rows[moved].tolist()]
        if len(rows) > MOST:
            for row in rows[np.argpartition(values, len(rows) - MOST)[: len(rows) - MOST]].tolist():
                self.remove(self._urls[row])
        yield from zip(urls, values[moved].tolist(), strict=True)

    def _rank(self, topic: int, row: int, unranked: float) -> float:
        score, scale = self._scores[topic, row], self._scales[topic]
        if not score > NOT_FOLLOWED:
            return 0.0
        return float(np.searchsorted(scale, score) / len(scale)) if len(scale) else unranked

    def _new(self, url: str) -> int:
        if self._free:
            row = self._free.pop()
        else:
            row = len(self._urls)
            self._urls.append("")
            if row == len(self._waits):
                self._waits = np.concatenate([self._waits, np.zeros_like(self._waits)])
                self._told = np.concatenate([self._told, np.zeros_like(self._told)])
                self._scores = np.hstack([self._scores, np.zeros_like(self._scores)])
        self._rows[url] = row
        self._urls[row] = url
        self._waits[row] = True
        self._told[row] = NOT_FOLLOWED
        self._scores[:, row] = NOT_FOLLOWED
        return row
