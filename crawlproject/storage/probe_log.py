"""``probes.jsonl``: what second looks at pages and hosts found, one line a fetch. A resumed crawl learns it again from there."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Iterator
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from crawlproject.storage.append_log import AppendLog, read_lines, unexpected

NAME = "probes.jsonl"

HONEST = "honest"  # a browser is shown the same; what is not there is said not to be
CLOAKED = "cloaked"  # we are shown what a browser is not
MADE_UP = "soft_404"  # what is not there is answered like a page
UNDECIDED = "undecided"  # nothing can be said, and it is not tried again
OPEN = ""  # another copy has to be fetched

_UNWELCOME = (401, 403, 429, 503)  # statuses of hosts that turn a probe away


@dataclass(frozen=True, slots=True)
class Finding:
    """One step of a probe: a line of ``probes.jsonl``.

    ``url`` was fetched as ``step`` (``probe_steps.py``) because of ``page``, which ended ``at`` seconds since the epoch after
    ``seconds``; ``status`` is 0 when no response came. ``verdict`` is one of the above, and ``why`` says it in words.
    ``hidden`` is which share of what we are shown a browser is not, ``churn`` which share comes and goes by itself, both 0 to 1
    (``cloaking.py``). By ``redirect``, ``title``, ``links``, a digest of where they lead, and ``text``, 32-bit digests of
    shingles in base64, a missing page is known again (``soft_404.py``).
    """

    url: str
    step: str
    page: str
    at: float
    seconds: float
    status: int
    verdict: str
    why: str = ""
    hidden: float = 0.0
    churn: float = 0.0
    redirect: str = ""
    title: str = ""
    links: int = 0
    text: str = ""

    @property
    def unwelcome(self) -> bool:
        """Whether the host turned the probe away: it is not probed again."""
        return self.status in _UNWELCOME or self.why.startswith("block/")


class ProbeLog:
    """Findings in the order in which probes ended. The file is made with its first line. Raises ``StorageFailed``."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / NAME
        self._log: AppendLog | None = None

    def append(self, finding: Finding) -> None:
        """Note a step of a probe."""
        self._log = self._log or AppendLog(self._path)
        self._log.append(finding)

    def close(self) -> None:
        """Close the file."""
        if self._log:
            self._log.close()
            self._log = None


def read_findings(folder: Path) -> Iterator[Finding]:
    """The findings of a crawl folder, in order; none when there is no file. Raises ``BadCrawlDir``."""
    path = folder / NAME
    for number, line in enumerate(read_lines(path), start=1):
        try:
            yield _finding(line)
        except (TypeError, ValueError) as damage:
            raise unexpected(path, number, damage) from damage


def _finding(line: Any) -> Finding:
    finding = Finding(**line)
    for field in fields(finding):
        wanted = (int, float) if field.type == "float" else int if field.type == "int" else str
        if not isinstance(getattr(finding, field.name), wanted):
            raise TypeError(f"{field.name} is no {field.type}")
    if len(b64decode(finding.text, validate=True)) % 4:
        raise ValueError("text is no list of digests")
    return finding
