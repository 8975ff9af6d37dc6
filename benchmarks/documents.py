"""The text of PDF files as the crawler reads it, against ``pdftotext`` of Poppler: recall and precision of words, and the cost.

    python benchmarks/documents.py FOLDER [--most 200]

FOLDER is searched recursively for ``*.pdf`` and ``*.pdf.gz``; identical files count once, and each folder contributes at most
``--per-folder`` files. The words of both tools are compared as multisets, after NFKC, in lower case; words that are
hyphenated at the end of a line are joined by both. A file in which ``pdftotext`` finds fewer than 50 words is left out.
Seconds are those of a worker that is already running, megabytes the peak resident set of a worker that reads this file only.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import re
import subprocess
import sys
import unicodedata
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random
from statistics import mean, quantiles
from time import perf_counter

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # for `python benchmarks/documents.py`

from crawlproject.options import DOCUMENT_TYPES
from crawlproject.pages.html.parse import parse_document
from crawlproject.parts.documents.opener import Opener
from crawlproject.records import Reply

PDF = DOCUMENT_TYPES["pdf"]
FEWEST = 50  # words
MOST = 1_048_576  # bytes of HTML: the default of PAGE_MAX_BYTES
LONGEST = 20_971_520  # the default of PAGE_DOCUMENT_BYTES
WORKER = [sys.executable, "-m", "crawlproject.parts.documents.worker"]


def words(text: str) -> Counter[str]:
    return Counter(re.findall(r"\w+", unicodedata.normalize("NFKC", text).lower()))


def reference(body: bytes) -> Counter[str]:
    """The words of ``pdftotext``, which itself joins hyphenated words."""
    done = subprocess.run(
        ["pdftotext", "-enc", "UTF-8", "-", "-"], input=body, capture_output=True, check=False, timeout=300
    )
    return words(done.stdout.decode("utf-8", "replace"))


def megabytes(body: bytes) -> float:
    """The peak resident set of a worker that reads this file, from ``/proc``."""
    asked = {"kind": "pdf", "name": "", "size": len(body), "most": MOST}
    with subprocess.Popen(WORKER, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        assert process.stdin is not None and process.stdout is not None
        process.stdin.write(json.dumps(asked).encode() + b"\n" + body)
        process.stdin.flush()
        process.stdout.read(json.loads(process.stdout.readline())["size"])
        status = Path(f"/proc/{process.pid}/status").read_text()
        process.stdin.close()
    return int(re.findall(r"VmHWM:\s+(\d+)", status)[0]) / 1024


def files(folder: Path, per_folder: int) -> Iterator[tuple[Path, bytes]]:
    seen: set[str] = set()
    in_folder: Counter[Path] = Counter()
    for path in sorted((*folder.rglob("*.pdf"), *folder.rglob("*.pdf.gz"))):
        if not path.is_file() or in_folder[path.parent] >= per_folder:
            continue
        body = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        digest = hashlib.md5(body, usedforsecurity=False).hexdigest()
        if digest not in seen:
            seen.add(digest)
            in_folder[path.parent] += 1
            yield path, body


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--most", type=int, default=200, help="files, drawn by chance")
    parser.add_argument("--per-folder", type=int, default=3)
    parser.add_argument("--each", action="store_true", help="print a line for each file")
    asked = parser.parse_args()
    found = [*files(asked.folder, asked.per_folder)]
    Random(1).shuffle(found)
    opener = Opener([PDF], longest=LONGEST, most=MOST)
    opener.opened(Reply("", 200, {"content-type": PDF}, b"%PDF-"))  # starts a worker
    unread: Counter[str] = Counter()
    rows: list[tuple[float, float, float, float]] = []
    for path, body in found[: asked.most]:
        began = perf_counter()
        reply = opener.opened(Reply(path.as_uri(), 200, {"content-type": PDF}, body))
        seconds = perf_counter() - began
        wanted = reference(body)
        if wanted.total() < FEWEST and not reply.unread:
            continue
        if reply.unread:
            unread[f"{reply.unread}{' (pdftotext: no text)' if wanted.total() < FEWEST else ''}"] += 1
            continue
        got = words(parse_document(reply.body, content_type="text/html; charset=utf-8").text)
        shared = (got & wanted).total()
        rows.append((shared / wanted.total(), shared / max(got.total(), 1), seconds, megabytes(body)))
        if asked.each:
            print(*(f"{value:.3f}" for value in rows[-1]), path)
    opener.close()
    print(f"{len(rows)} files read; not read: {dict(unread)}")
    for name, values in zip(("recall", "precision", "seconds", "megabytes"), zip(*rows, strict=True), strict=True):
        cuts = quantiles(values, n=20)
        shown = f"5% {cuts[0]:.3f}  median {cuts[9]:.3f}  95% {cuts[-1]:.3f}  max {max(values):.3f}"
        print(f"{name:10} mean {mean(values):.3f}  {shown}")


if __name__ == "__main__":
    main()
