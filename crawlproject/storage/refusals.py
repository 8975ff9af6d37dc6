"""Counts and samples of refused URLs, by reason.

``refused.json`` holds ``{"counts": {reason: n}, "samples": {reason: [[url, parent], ...]}}``. A reason reads
``component/rule``, for example ``trap/too_long`` or ``robots/forbidden``; ``n`` counts links, not distinct URLs.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import orjson

from crawlproject.errors import BadCrawlDir
from crawlproject.storage.append_log import write_atomically

SAMPLES = 20  # samples kept per reason
SHOWN = 2000  # characters of a sample that are kept


class Refusals:
    """Counts and samples, kept in memory and saved with ``save``."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.counts: Counter[str] = Counter()
        self.samples: dict[str, list[tuple[str, str | None]]] = {}
        if path.exists():
            self._load()

    def add(self, reason: str, url: str, parent: str | None = None) -> None:
        """Count a refusal of ``url`` found on ``parent``."""
        self.counts[reason] += 1
        samples, shown = self.samples.setdefault(reason, []), url[:SHOWN]
        if len(samples) < SAMPLES and not any(shown == seen for seen, _ in samples):
            samples.append((shown, parent))

    def count(self, reason: str, n: int = 1) -> None:
        """Count refusals without a sample."""
        self.counts[reason] += n

    def save(self) -> None:
        """Write ``refused.json``. Raises ``StorageFailed``."""
        document = {"counts": dict(self.counts.most_common()), "samples": self.samples}
        write_atomically(self._path, [orjson.dumps(document, option=orjson.OPT_INDENT_2)], sync=False)

    def _load(self) -> None:
        try:
            document = orjson.loads(self._path.read_bytes())
            self.counts.update({reason: int(count) for reason, count in document["counts"].items()})
            self.samples.update({reason: [(u, p) for u, p in urls] for reason, urls in document["samples"].items()})
        except (OSError, KeyError, TypeError, ValueError, AttributeError) as damage:
            raise BadCrawlDir(str(self._path), f"expected refusal counts ({damage!r}); remove the file") from None
