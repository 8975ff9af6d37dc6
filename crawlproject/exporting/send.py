"""Sends the pages of a crawl to a search server, with retries and resumption.

A batch is sent until the server has accepted or rejected every document in it. Then the position in ``items.jsonl`` is
saved, so that the same command resumes there. Later versions of a page replace it; pages that the crawl took back, or of
which it found a better copy, are deleted. The id of a document is the MD5 of its URL, so a document that is sent
twice (a lost reply, a killed process) is stored once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from hashlib import md5
from pathlib import Path
from typing import Protocol

import orjson

from crawlproject.errors import BadInput, StorageFailed
from crawlproject.exporting.documents import (
    MAPPING,
    SearchDocument,
    ServerReply,
    batches,
    bulk_results,
    deletion,
    document,
    error_text,
    is_temporary,
    refusal_text,
)
from crawlproject.exporting.selection import Selection, is_first, require_crawl, whole
from crawlproject.storage.append_log import ITEMS, START, AppendLog, TailPosition, TailReader, write_atomically
from crawlproject.urls.hosts import page_name

FOLDER = "export"
FIRST_WAIT, LONGEST_WAIT = 0.5, 60.0  # seconds; the wait doubles after each failure
_LONGEST_ASKED = 300.0  # seconds; the longest Retry-After that is obeyed


class Server(Protocol):
    """A search server. ``request`` raises ``OSError`` if it gets no complete reply."""

    name: str  # scheme, host and index, without a password
    index: str

    def request(self, method: str, path: str, body: bytes = b"") -> ServerReply: ...


@dataclass(frozen=True, slots=True)
class Sent:
    """Progress: the numbers of pages on the server (``taken``) and rejected documents (``refused``); the place in the items."""

    taken: int = 0
    refused: int = 0
    place: TailPosition = START


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """Exponential back-off with jitter: at most ``retries`` in a row without progress.

    ``sleep`` waits some seconds; ``draw`` returns a random number from 0 to 1.
    """

    sleep: Callable[[float], None]
    draw: Callable[[], float]
    retries: int = 8

    def wait(self, tried: int, asked: float) -> None:
        """Wait after ``tried`` failures, but at least the ``asked`` seconds that the server requests."""
        longest = min(LONGEST_WAIT, FIRST_WAIT * 2**tried)
        self.sleep(max(longest * (0.5 + 0.5 * self.draw()), min(asked, _LONGEST_ASKED)))


class Sender:
    """Sends the selected pages of ``crawl_dir`` to ``server`` in requests of about ``max_bytes``.

    ``restart`` ignores the progress of an earlier run. Raises ``BadCrawlDir`` for a damaged crawl folder.
    """

    def __init__(
        self,
        crawl_dir: Path,
        server: Server,
        selection: Selection,
        retry: RetryPolicy,
        *,
        max_bytes: int = 5_000_000,
        restart: bool = False,
    ) -> None:
        require_crawl(crawl_dir)
        self._items = crawl_dir / ITEMS
        self._server = server
        self._selection = selection
        self._retry = retry
        self._max_bytes = max_bytes
        name = md5(server.name.encode(), usedforsecurity=False).hexdigest()[:16]
        self._note = crawl_dir / FOLDER / f"{name}.json"
        self.refused_path = crawl_dir / FOLDER / f"{name}.refused.jsonl"
        self._sent, self._earlier = self._noted(restart)

    def run(self, progress: Callable[[float], None] = lambda share: None) -> Sent:
        """Send the documents not sent yet; return the progress. ``progress`` is called with the share that is done.

        Raises ``BadInput`` if the server rejects the request (password, index), and ``StorageFailed`` if it stays
        unavailable; calling again resumes.
        """
        if self._make_index():
            self._sent, self._earlier = Sent(), ()  # the index was removed since the last run
        follower = TailReader(self._items, self._sent.place)
        if self._sent.place == START or follower.restarted:
            self._sent = Sent()
            self.refused_path.unlink(missing_ok=True)
        for batch in batches(self._documents(follower), self._max_bytes):
            self._deliver(batch)
            self._remember(follower.place)
            progress(follower.share)
        self._earlier = ()
        self._remember(follower.place)  # after the last items even if these were not selected
        self._ask("POST", f"/{self._server.index}/_refresh", (200, 404, 405))
        progress(1.0)
        return self._sent

    # ------------------------------------------------------------ the index

    def _make_index(self) -> bool:
        """Create the index if it is missing; return whether it was created."""
        path = f"/{self._server.index}"
        if self._ask("HEAD", path, (200, 404)).status == 200:
            return False
        made = self._ask("PUT", path, (200, 201, 400), orjson.dumps(MAPPING))
        if made.status == 400 and "already_exists" not in error_text(made.found):
            raise BadInput(self._server.name, f"the index cannot be created: {error_text(made.found)}")
        return True

    def _ask(self, method: str, path: str, wanted: Sequence[int], body: bytes = b"") -> ServerReply:
        """Repeat a request until the reply has one of the ``wanted`` statuses."""
        tried = 0
        while True:
            answer, broken = self._request(method, path, body)
            if answer is not None and answer.status in wanted:
                return answer
            tried = self._wait(tried, answer, broken)

    # ------------------------------------------------------------ the documents

    def _documents(self, follower: TailReader) -> Iterator[SearchDocument | None]:
        for line in follower:
            item = whole(line, follower.here)
            if (replaced := item["replaces"]) and not self._selection.with_duplicates:
                yield deletion(replaced, page_name(replaced))
            if not item["state"] and self._selection.takes(item):
                yield document(item)
            elif not is_first(item):
                yield deletion(item["url"], item["md5"])
            elif any(earlier.takes(item) for earlier in self._earlier):
                yield deletion(item["url"], item["md5"])._replace(first=True)
            else:
                yield None

    def _deliver(self, batch: Sequence[SearchDocument]) -> None:
        """Send until every document was accepted or rejected."""
        waiting = list(batch)
        tried = 0
        while waiting:
            answer, broken = self._request(
                "POST", f"/{self._server.index}/_bulk", b"".join(each.lines for each in waiting)
            )
            if answer is not None and answer.status == 413:
                self._deliver_less(waiting)
                return
            results = bulk_results(answer, len(waiting))
            if results is None:
                tried = self._wait(tried, answer, broken)
                continue
            again = [each for each, (status, _) in zip(waiting, results, strict=True) if is_temporary(status)]
            for each, (status, said) in zip(waiting, results, strict=True):
                if 200 <= status < 300 or (each.deletes and status == 404):
                    self._sent = replace(self._sent, taken=self._sent.taken + _more(each, status))
                elif not is_temporary(status):
                    self._refuse(each, status, said)
            if len(again) == len(waiting):
                tried = self._wait(tried, ServerReply(429, {"error": results[0][1]}), "")
            elif again:
                tried = 0
                self._retry.wait(0, 0.0)
            waiting = again

    def _deliver_less(self, batch: Sequence[SearchDocument]) -> None:
        """Send half as many documents per request, because the server rejected the size."""
        if len(batch) == 1:
            self._refuse(batch[0], 413, "too large for the server")
            return
        middle = len(batch) // 2
        self._deliver(batch[:middle])
        self._deliver(batch[middle:])

    def _refuse(self, each: SearchDocument, status: int, said: str) -> None:
        log = AppendLog(self.refused_path)
        try:
            log.append({"md5": each.md5, "url": each.url, "status": status, "error": said})
        finally:
            log.close()
        self._sent = replace(self._sent, refused=self._sent.refused + 1)

    # ------------------------------------------------------------ retries

    def _request(self, method: str, path: str, body: bytes) -> tuple[ServerReply | None, str]:
        try:
            return self._server.request(method, path, body), ""
        except OSError as broken:
            return None, str(broken) or type(broken).__name__

    def _wait(self, tried: int, answer: ServerReply | None, broken: str) -> int:
        """Wait before the next try and return its number, or give up."""
        if answer is not None and not is_temporary(answer.status) and not 200 <= answer.status < 300:
            raise BadInput(self._server.name, refusal_text(answer))
        if tried >= self._retry.retries:
            why = (
                broken or f"HTTP {answer.status if answer else 0} {error_text(answer.found if answer else '')}".strip()
            )
            raise StorageFailed(
                f"{self._server.name} does not accept documents ({why}); run the same command again to resume"
            )
        self._retry.wait(tried, answer.retry_after if answer else 0.0)
        return tried + 1

    # ------------------------------------------------------------ progress

    def _noted(self, restart: bool) -> tuple[Sent, tuple[Selection, ...]]:
        """Return the progress of the last run, and earlier selections, whose pages are deleted from the server.

        Pages that this crawl has never sent may belong to another crawl, and stay.
        """
        try:
            found = orjson.loads(self._note.read_bytes())
            sent = Sent(int(found["taken"]), int(found["refused"]), TailPosition.from_json(found["place"]))
            last, *earlier = (Selection(**each) for each in (found["selection"], *found.get("earlier", ())))
        except (OSError, ValueError, KeyError, TypeError):
            return Sent(), ()  # sending everything again is safe
        same = last == self._selection
        others = dict.fromkeys((last, *earlier))
        others.pop(self._selection, None)
        return (sent if same and not restart else Sent()), tuple(others)

    def _remember(self, place: TailPosition) -> None:
        self._sent = replace(self._sent, place=place)
        noted = {
            "target": self._server.name,
            "selection": asdict(self._selection),
            "taken": self._sent.taken,
            "refused": self._sent.refused,
            "place": place.as_json(),
            "earlier": [asdict(each) for each in self._earlier],
        }
        write_atomically(self._note, [orjson.dumps(noted, option=orjson.OPT_INDENT_2)])


def _more(each: SearchDocument, status: int) -> int:
    """Return by how many the pages on the server increase when it answers a document with this status."""
    if each.deletes:
        return -(status != 404 and not each.first)
    return int(each.first or status == 201)
