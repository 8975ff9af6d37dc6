"""Turns documents into HTML in other processes: a hostile document ends its reader process, and not the crawl.

A document that cannot be read has one of these errors in the history:

    ==================== ====================================================================================
    document/bomb        it holds too many files, or more than ``zipped.MAX_UNPACKED`` bytes when unpacked
    document/broken      its reader finds no document in it
    document/crash       its reader process crashed
    document/cut         it is longer than ``PAGE_DOCUMENT_BYTES``, and was not fetched whole
    document/encrypted   it needs a password, or is protected
    document/memory      reading it takes more memory than ``worker.MAX_MEMORY``
    document/textless    it has no text: mostly images of pages
    document/time        reading it takes longer than ``worker.MAX_SECONDS`` of CPU time, or ``MAX_SECONDS`` in all
    ==================== ====================================================================================
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from queue import SimpleQueue
from threading import Event, Lock, Timer
from typing import Any, NamedTuple
from urllib.parse import unquote, urlsplit

from crawlproject.extras import need
from crawlproject.options import DOCUMENT_TYPES
from crawlproject.pages.html.encoding import media_type
from crawlproject.records import Reply

WORKERS = 2  # reader processes, and so documents that are read at the same time
# From the request to the answer. On an idle machine, the limit of ``worker.MAX_SECONDS`` of CPU time is reached first.
MAX_SECONDS = 60.0
MODULES = {"pdf": "pypdf", "docx": "docx"}  # modules that the readers need and a default install lacks

_WORKER = "crawlproject.parts.documents.worker"
_LONGEST_NAME = 200  # characters
_MARKS = {"pdf": b"%PDF-", "docx": b"PK\x03\x04", "epub": b"PK\x03\x04"}
_LOOKED_AT = 1_024  # first bytes, within which the header of a PDF must be (ISO 32000-1, Annex H.3.4.1)


class _Answer(NamedTuple):
    html: bytes
    error: str


class Opener:
    """Opens documents of some media types; ``longest`` and ``most`` are the most bytes of a document and of its HTML.

    Raises ``MissingExtra`` if a library is not installed. Processes are started on demand. Thread-safe; at most ``WORKERS``
    documents are read at a time, and further calls wait.
    """

    def __init__(self, content_types: Iterable[str], *, longest: int, most: int, seconds: float = MAX_SECONDS) -> None:
        self._kinds = {name: kind for kind, name in DOCUMENT_TYPES.items() if name in content_types}
        for name, kind in self._kinds.items():
            if kind in MODULES:
                need(f"setting PAGE_CONTENT_TYPES: {name}", "documents", MODULES[kind])
        self.longest = longest
        self._most = most
        self._seconds = seconds
        self._idle: SimpleQueue[_ReaderProcess | None] = SimpleQueue()
        for _ in range(WORKERS):
            self._idle.put(None)
        self._started: set[_ReaderProcess] = set()
        self._lock = Lock()
        self._closed = False

    def __bool__(self) -> bool:
        """Whether there is anything to open."""
        return bool(self._kinds)

    def kind(self, content_type: str) -> str:
        """The kind of a document by its header ``Content-Type``; empty if such documents are not opened."""
        return self._kinds.get(media_type(content_type), "")

    def opened(self, reply: Reply, *, cut: bool = False) -> Reply:
        """The reply with HTML in place of a document, or with the reason why there is none; other replies stay as they are.

        ``cut``: the document is known to be incomplete. The new content type names the old kind:
        ``text/html; charset=utf-8; source=pdf``.
        """
        kind = self.kind(reply.headers.get("content-type", ""))
        if not kind or not 200 <= reply.status < 300:
            return reply
        if reply.body.lstrip()[:1] == b"<":  # servers call their error pages what they like
            return replace(reply, headers={**reply.headers, "content-type": "text/html"})
        html, error = self._read(kind, reply.body, reply.url, cut or len(reply.body) > self.longest)
        if error:
            return replace(reply, body=b"", unread=error)
        named = f"text/html; charset=utf-8; source={kind}"
        return replace(reply, headers={**reply.headers, "content-type": named}, body=html)

    def close(self) -> None:
        """End the reader processes."""
        with self._lock:
            self._closed = True
            for worker in self._started:
                worker.kill()

    def _read(self, kind: str, body: bytes, url: str, cut: bool) -> _Answer:
        if _MARKS[kind] not in body[:_LOOKED_AT]:
            return _Answer(b"", "document/broken")
        if cut:
            return _Answer(b"", "document/cut")
        asked = {"kind": kind, "name": _file_name(url), "size": len(body), "most": self._most}
        worker = self._idle.get()
        try:
            if worker is None or not worker.is_alive:
                worker = self._start(worker)
            return worker.ask(asked, body, self._seconds)
        finally:
            self._idle.put(worker)

    def _start(self, before: _ReaderProcess | None) -> _ReaderProcess:
        with self._lock:
            if before is not None:
                before.kill()
                self._started.discard(before)
            worker = _ReaderProcess()
            self._started.add(worker)
            if self._closed:
                worker.kill()
            return worker


class _ReaderProcess:
    """One reader process. Of our environment it gets only what it needs to find the code."""

    def __init__(self) -> None:
        kept = {name: os.environ[name] for name in ("SYSTEMROOT", "LD_LIBRARY_PATH") if name in os.environ}
        self._process = subprocess.Popen(
            [sys.executable, "-m", _WORKER],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**kept, "PYTHONPATH": os.pathsep.join(filter(None, map(os.path.abspath, sys.path)))},
            start_new_session=True,  # Ctrl-C reaches only the crawl, which ends its processes
        )

    @property
    def is_alive(self) -> bool:
        return self._process.poll() is None

    def ask(self, asked: dict[str, Any], body: bytes, seconds: float) -> _Answer:
        process = self._process
        assert process.stdin is not None and process.stdout is not None
        is_late = Event()

        def end() -> None:
            is_late.set()
            process.kill()

        late = Timer(seconds, end)
        late.daemon = True
        late.start()
        with suppress(OSError, ValueError):  # a broken pipe, or no answer
            process.stdin.write(json.dumps(asked).encode() + b"\n" + body)
            process.stdin.flush()
            said = json.loads(process.stdout.readline())
            html = process.stdout.read(said["size"])
            if len(html) == said["size"]:
                late.cancel()
                return _Answer(html, said["error"])
        late.cancel()
        self.kill()
        timed_out = is_late.is_set() or process.returncode == -getattr(signal, "SIGXCPU", 0)
        return _Answer(b"", "document/time" if timed_out else "document/crash")

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with suppress(OSError):  # the pipe may hold unwritten bytes
                    pipe.close()


def _file_name(url: str) -> str:
    """The last part of the path of a URL, in readable form."""
    path = unquote(urlsplit(url).path, errors="replace")
    return path.rstrip("/").rpartition("/")[2][:_LONGEST_NAME]
