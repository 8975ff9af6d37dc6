"""Whose file is it: nobody writes over the files of a crawl, and a crawl writes over nobody else's."""

from __future__ import annotations

from pathlib import Path

from crawlproject.errors import BadCrawlDir, BadInput, StorageFailed
from crawlproject.storage.append_log import write_atomically

MANIFEST = "crawl.json"
REPORT = "report.html"
SIGNS = (b'<meta name="generator" content="topical crawler">',)
REPORT_SIGNS = (*SIGNS, " – crawl report</title>".encode())  # the latter is older
_BEGINNING = 4_096  # bytes in which a sign must be
_LOGS = (
    "changes.jsonl",
    "history.jsonl",
    "items.jsonl",
    "judgments.jsonl",
    "links.jsonl",
    "probes.jsonl",
    "refused.json",
    "robots.jsonl",
    "rules.jsonl",
    "sitemaps.jsonl",
    "sketches.jsonl",
    "topics.jsonl",
    "websub.jsonl",
)
_FILES = frozenset(_LOGS) | {
    MANIFEST,
    REPORT,
    "agents.json",
    "collection.sqlite",
    "console.log",
    "dashboard.json",
    "export",
    "finished.json",
    "frontier",
    "index",
    "lock",
    "pages",
    "report.json",
    "sketches.others.jsonl",
    "topic.toml",
    "topics",
    "view.json",
    "warc",
    "workers",
}


def refuse_crawl_file(target: Path, *, crawl_dir: Path | None = None) -> None:
    """Raise ``BadInput`` when ``target`` is a file of a crawl: of ``crawl_dir``, which may not be there yet, or any other."""
    place = target.parent.resolve() / target.name
    own = crawl_dir.resolve() if crawl_dir else None
    for folder in place.parents:
        first = place.relative_to(folder).parts[0]
        if first in _FILES and (folder == own or (folder / MANIFEST).is_file()):
            raise BadInput(str(target), f"is for the crawl in {folder}; choose another name")


def refuse_foreign_files(folder: Path) -> None:
    """Raise ``BadCrawlDir`` when a crawl in ``folder`` would write over the files of somebody else."""
    if not (folder / MANIFEST).exists():
        for name in _LOGS:
            path = folder / name
            if path.is_file() and path.stat().st_size:
                wish = f"holds {name}, but no {MANIFEST}, so it is no crawl's; choose another folder, or restore {MANIFEST}"
                raise BadCrawlDir(str(folder), wish)
    refuse_unsigned(folder / REPORT, REPORT_SIGNS)


def refuse_unsigned(path: Path, signs: tuple[bytes, ...]) -> None:
    """Raise ``BadInput`` when there is a file at ``path`` that does not begin with one of our ``signs``."""
    try:
        with path.open("rb") as file:
            beginning = file.read(_BEGINNING)
    except FileNotFoundError:
        return
    except OSError as error:
        raise StorageFailed(f"cannot read {path}: {error}") from error
    if beginning and not any(sign in beginning for sign in signs):
        raise BadInput(str(path), "was not written by this crawler and would be lost; move it away")


def replace_signed(path: Path, content: bytes, signs: tuple[bytes, ...]) -> None:
    """Write a file, over an earlier one only if that is ours. Raises ``BadInput`` and ``StorageFailed``."""
    refuse_unsigned(path, signs)
    write_atomically(path, [content], sync=False)
