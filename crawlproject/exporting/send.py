"""Sending the pages of a crawl to a search server, so that each arrives whatever the server does meanwhile.

A batch is sent until the server has taken every document in it, or said that it never will. Then the place in
``items.jsonl`` is noted, so that the same command goes on there. The id of a document is the MD5 of its URL: what is
sent twice, because an answer was lost or the sender killed, is there once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from hashlib import md5
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import orjson

from crawlproject.errors import BadInput, StorageFailed
from crawlproject.exporting.documents import MAPPING, SearchDocument, batches, document
from crawlproject.exporting.selection import Selection, require_crawl, whole
from crawlproject.storage.append_log import AppendLog, write_atomically
from crawlproject.storage.tail import ITEMS, START, TailPosition, TailReader

FOLDER = "export"
FIRST_WAIT, LONGEST_WAIT = 0.5, 60.0  # seconds; doubled each time between them
_LONGEST_ASKED = 300.0  # seconds of a Retry-After that are obeyed
_ERROR = 500  # characters of what a server says that are told


class ServerReply(NamedTuple):
    """Status, parsed body (None: no JSON), and the seconds that the server asks to wait."""

    status: int
    found: Any = None
    retry_after: float = 0.0


class Server(Protocol):
    """The HTTP side. ``request`` raises ``OSError`` when no whole answer came."""

    name: str  # scheme, host and index, without a password
    index: str

    def request(self, method: str, path: str, body: bytes = b"") -> ServerReply: ...


@dataclass(frozen=True, slots=True)
class Sent:
    """How far it came: documents the server has taken, and those it refused for good."""

    taken: int = 0
    refused: int = 0
    place: TailPosition = START


@dataclass(frozen=True, slots=True)
class Patience:
    """``retries`` in a row without any progress; ``sleep`` waits for seconds, ``draw`` gives a number from 0 to 1."""

    sleep: Callable[[float], None]
    draw: Callable[[], float]
    retries: int = 8

    def wait(self, tried: int, asked: float) -> None:
        """Longer each time, never at the same moment as others, and as long as the server asks for."""
        longest = min(LONGEST_WAIT, FIRST_WAIT * 2**tried)
        self.sleep(max(longest * (0.5 + 0.5 * self.draw()), min(asked, _LONGEST_ASKED)))


class Sender:
    """Sends the selected pages of ``crawl_dir`` to ``server`` in requests of about ``max_bytes``.

    ``restart`` forgets how far an earlier run came. Raises ``BadCrawlDir`` for a damaged crawl folder.
    """

    def __init__(
        self,
        crawl_dir: Path,
        server: Server,
        selection: Selection,
        patience: Patience,
        *,
        max_bytes: int = 5_000_000,
        restart: bool = False,
    ) -> None:
        require_crawl(crawl_dir)
        self._items = crawl_dir / ITEMS
        self._server = server
        self._selection = selection
        self._patience = patience
        self._max_bytes = max_bytes
        name = md5(server.name.encode(), usedforsecurity=False).hexdigest()[:16]
        self._note = crawl_dir / FOLDER / f"{name}.json"
        self.refused_path = crawl_dir / FOLDER / f"{name}.refused.jsonl"
        self._sent = Sent() if restart else self._noted()

    def run(self, progress: Callable[[float], None] = lambda share: None) -> Sent:
        """Send what was not sent yet; what the server has now.

        Raises ``BadInput`` when the server refuses the request (password, index), ``StorageFailed`` when it stays away;
        the same call goes on then.
        """
        if self._make_index():
            self._sent = Sent()  # somebody removed the index
        follower = TailReader(self._items, self._sent.place)
        if self._sent.place == START or follower.restarted:
            self._sent = Sent()
            self.refused_path.unlink(missing_ok=True)
        for batch in batches(self._documents(follower), self._max_bytes):
            self._deliver(batch)
            self._remember(follower.place)
            progress(follower.share)
        self._remember(follower.place)  # behind what was not selected
        self._ask("POST", f"/{self._server.index}/_refresh", (200, 404, 405))
        progress(1.0)
        return self._sent

    # ------------------------------------------------------------ the index

    def _make_index(self) -> bool:
        """Whether the index had to be made."""
        path = f"/{self._server.index}"
        if self._ask("HEAD", path, (200, 404)).status == 200:
            return False
        made = self._ask("PUT", path, (200, 201, 400), orjson.dumps(MAPPING))
        if made.status == 400 and "already_exists" not in _said(made.found):
            raise BadInput(self._server.name, f"the index cannot be made: {_said(made.found)}")
        return True

    def _ask(self, method: str, path: str, wanted: Sequence[int], body: bytes = b"") -> ServerReply:
        """An answer with one of the statuses that are wanted."""
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
            yield document(item) if self._selection.takes(item) else None

    def _deliver(self, batch: Sequence[SearchDocument]) -> None:
        """Until every document was taken or refused for good."""
        waiting = list(batch)
        tried = 0
        while waiting:
            answer, broken = self._request(
                "POST", f"/{self._server.index}/_bulk", b"".join(each.lines for each in waiting)
            )
            if answer is not None and answer.status == 413:
                self._deliver_less(waiting)
                return
            results = _results(answer, len(waiting))
            if results is None:
                tried = self._wait(tried, answer, broken)
                continue
            again = [each for each, (status, _) in zip(waiting, results, strict=True) if _may_pass(status)]
            for each, (status, said) in zip(waiting, results, strict=True):
                if 200 <= status < 300:
                    self._sent = replace(self._sent, taken=self._sent.taken + 1)
                elif not _may_pass(status):
                    self._refuse(each, status, said)
            if len(again) == len(waiting):
                tried = self._wait(tried, ServerReply(429, {"error": results[0][1]}), "")
            elif again:
                tried = 0
                self._patience.wait(0, 0.0)
            waiting = again

    def _deliver_less(self, batch: Sequence[SearchDocument]) -> None:
        """The request was too large for the server."""
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

    # ------------------------------------------------------------ patience

    def _request(self, method: str, path: str, body: bytes) -> tuple[ServerReply | None, str]:
        try:
            return self._server.request(method, path, body), ""
        except OSError as broken:
            return None, str(broken) or type(broken).__name__

    def _wait(self, tried: int, answer: ServerReply | None, broken: str) -> int:
        """Wait before the next try, the number of which is given; or give up."""
        if answer is not None and not _may_pass(answer.status) and not 200 <= answer.status < 300:
            raise BadInput(self._server.name, _refusal(answer))
        if tried >= self._patience.retries:
            why = broken or f"HTTP {answer.status if answer else 0} {_said(answer.found if answer else '')}".strip()
            raise StorageFailed(f"{self._server.name} does not take documents ({why}); the same command goes on later")
        self._patience.wait(tried, answer.retry_after if answer else 0.0)
        return tried + 1

    # ------------------------------------------------------------ how far it came

    def _noted(self) -> Sent:
        try:
            found = orjson.loads(self._note.read_bytes())
            if found["selection"] != asdict(self._selection):
                return Sent()
            return Sent(int(found["taken"]), int(found["refused"]), TailPosition.from_json(found["place"]))
        except (OSError, ValueError, KeyError, TypeError):
            return Sent()  # to send all again loses nothing

    def _remember(self, place: TailPosition) -> None:
        self._sent = replace(self._sent, place=place)
        noted = {
            "target": self._server.name,
            "selection": asdict(self._selection),
            "taken": self._sent.taken,
            "refused": self._sent.refused,
            "place": place.as_json(),
        }
        write_atomically(self._note, [orjson.dumps(noted, option=orjson.OPT_INDENT_2)])


def _may_pass(status: int) -> bool:
    """Whether the same may be taken later: the server is busy, or ill."""
    return status in (408, 429) or status >= 500


def _results(answer: ServerReply | None, count: int) -> list[tuple[int, str]] | None:
    """Status and error of each document; None when the answer does not tell of all."""
    if answer is None or answer.status != 200 or not isinstance(answer.found, dict):
        return None
    try:
        actions = [next(iter(each.values())) for each in answer.found["items"]]
        results = [(int(action["status"]), _said(action.get("error", ""))) for action in actions]
    except (KeyError, TypeError, ValueError, AttributeError, StopIteration):
        return None
    return results if len(results) == count else None


def _said(found: Any) -> str:
    """What a server says of an error, in short."""
    if isinstance(found, dict):
        inner = found.get("error", found)
        if isinstance(inner, dict) and ("reason" in inner or "type" in inner):
            return f"{inner.get('type', '')}: {inner.get('reason', '')}"[:_ERROR]
        found = inner
    return (found if isinstance(found, str) else orjson.dumps(found, default=str).decode())[:_ERROR]


def _refusal(answer: ServerReply) -> str:
    if answer.status in (401, 403):
        return (
            f"the server asks for other credentials (HTTP {answer.status}): put them into the URL, or into "
            "OPENSEARCH_USERNAME and OPENSEARCH_PASSWORD, or OPENSEARCH_API_KEY"
        )
    return f"the server refuses the request: HTTP {answer.status} {_said(answer.found or '')}".rstrip()
