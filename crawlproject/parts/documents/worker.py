"""The process that reads documents: one at a time, from standard input to standard output, within limits.

A request is a line of JSON, ``{"kind", "name", "size", "most"}``, followed by ``size`` bytes. The answer is a line of JSON,
``{"error", "size"}``, followed by the HTML. A fault of a document is reported in ``error``; the parent notices a crash.
"""

from __future__ import annotations

import json
import logging
import sys
from contextlib import suppress
from importlib import import_module
from typing import BinaryIO

from crawlproject.parts.documents.html_draft import Full, HtmlDraft, Unreadable

MAX_MEMORY = 1_073_741_824  # bytes of address space
MAX_SECONDS = 20  # of CPU time for one document

_READERS = {kind: f"crawlproject.parts.documents.read_{kind}" for kind in ("pdf", "docx", "epub")}


def read(kind: str, body: bytes, name: str, most: int) -> bytes:
    """The HTML of a document, at most ``most`` bytes or a little more. Raises ``Unreadable``."""
    draft = HtmlDraft(most)
    try:
        import_module(_READERS[kind]).read(body, draft)
    except Full:
        pass
    except MemoryError:
        raise Unreadable("document/memory") from None
    except (Unreadable, ModuleNotFoundError):
        raise
    except Exception:  # libraries raise anything for what is broken
        raise Unreadable("document/broken") from None
    return draft.document(name)


def serve(requests: BinaryIO, answers: BinaryIO) -> None:
    """Answer requests until the parent is gone, or a document needed more memory than allowed."""
    while line := requests.readline():
        asked = json.loads(line)
        body = requests.read(asked["size"])
        if len(body) < asked["size"]:
            return
        _allow_time()
        html, error = b"", ""
        try:
            html = read(asked["kind"], body, asked["name"], asked["most"])
        except Unreadable as failed:
            error = failed.reason
        answers.write(json.dumps({"error": error, "size": len(html)}).encode() + b"\n" + html)
        answers.flush()
        if error == "document/memory":
            return


def _limit_memory() -> None:
    with suppress(ImportError, OSError, ValueError):  # the system has no such limits
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MAX_MEMORY, MAX_MEMORY))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))


def _allow_time() -> None:
    """Let the system kill this process if the next document takes too long, even if the parent no longer waits for it."""
    with suppress(ImportError, OSError, ValueError):
        import resource

        used = resource.getrusage(resource.RUSAGE_SELF)
        until = int(used.ru_utime + used.ru_stime) + 1 + MAX_SECONDS
        resource.setrlimit(resource.RLIMIT_CPU, (until, resource.getrlimit(resource.RLIMIT_CPU)[1]))


if __name__ == "__main__":
    logging.disable()  # pypdf logs every fault of a document
    _limit_memory()
    serve(sys.stdin.buffer, sys.stdout.buffer)
