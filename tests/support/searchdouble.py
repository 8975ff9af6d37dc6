"""A search server over real sockets: the bulk protocol of OpenSearch and Elasticsearch, and its failures.

It follows the documentation of the bulk API: a response of 200 may list failed documents; a whole request may be rejected
(429, 503, 413) or break off at any point, before or after its documents were stored.
"""

from __future__ import annotations

import gzip
import json
import time
from base64 import b64encode
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from support.httpserver import QuietHandler, listening

Fault = Callable[["SearchDouble", "Handler", list[tuple[str, dict[str, Any]]]], bool]


class SearchDouble:
    """``indexes`` holds documents by index and ID. ``faults`` are called in order, each for one bulk request; a fault that
    returns True has sent the response. ``refuses`` returns the reason why a document is never stored, or "".
    """

    def __init__(self) -> None:
        self.indexes: dict[str, dict[str, Any]] = {}
        self.mappings: dict[str, Any] = {}
        self.faults: list[Fault] = []
        self.refuses: Callable[[dict[str, Any]], str] = lambda source: ""
        self.busy: Callable[[str], bool] = lambda identity: False
        self.password = ""
        self.max_bytes = 10**9
        self.requests: list[tuple[str, str]] = []
        self.writes = 0
        self.authorizations: list[str] = []
        self.port = 0

    def url(self, index: str = "pages", userinfo: str = "") -> str:
        return f"http://{userinfo}127.0.0.1:{self.port}/{index}"

    def ids(self, index: str = "pages") -> set[str]:
        return set(self.indexes.get(index, {}))

    def take(self, index: str, actions: list[tuple[str, dict[str, Any]]]) -> dict[str, Any]:
        """Execute a bulk request; return the response."""
        items = []
        for identity, source in actions:
            result: dict[str, Any] = {"_index": index, "_id": identity}
            if source is None:
                known = self.indexes[index].pop(identity, None) is not None
                items.append({"delete": {**result, "status": 200 if known else 404}})
                continue
            if why := self.refuses(source):
                result |= {"status": 400, "error": {"type": "mapper_parsing_exception", "reason": why}}
            elif self.busy(identity):
                error = {"type": "rejected_execution_exception", "reason": "queue is full"}
                result |= {"status": 429, "error": error}
            else:
                known = identity in self.indexes[index]
                self.indexes[index][identity] = source
                self.writes += 1
                result |= {"status": 200 if known else 201, "result": "updated" if known else "created"}
            items.append({"index": result})
        errors = any("error" in result for item in items for result in item.values())
        return {"took": 1, "errors": errors, "items": items}


def read_actions(lines: Iterator[bytes]) -> Iterator[tuple[str, Any]]:
    """Yield the ID of each document with its source; the source is None for a deletion."""
    for line in lines:
        ((name, action),) = json.loads(line).items()
        yield action["_id"], json.loads(next(lines)) if name == "index" else None


class Handler(QuietHandler):
    double: SearchDouble

    def do_HEAD(self) -> None:
        if self._may():
            self.answer(200 if self._index() in self.double.indexes else 404, None)

    def do_PUT(self) -> None:
        body = self._body()
        if not self._may():
            return
        index = self._index()
        if index in self.double.indexes:
            error = {"type": "resource_already_exists_exception", "reason": f"index [{index}] already exists"}
            self.answer(400, {"error": error, "status": 400})
            return
        self.double.mappings[index] = json.loads(body)
        self.double.indexes[index] = {}
        self.answer(200, {"acknowledged": True, "index": index})

    def do_POST(self) -> None:
        body = self._body()
        if not self._may():
            return
        if self.path.endswith("/_refresh"):
            self.answer(200, {"_shards": {"failed": 0}})
            return
        if len(body) > self.double.max_bytes:
            self.answer(413, None)
            return
        assert self.headers["Content-Type"] == "application/x-ndjson" and body.endswith(b"\n")
        lines = body.splitlines()
        actions = list(read_actions(iter(lines)))
        if self.double.faults and self.double.faults.pop(0)(self.double, self, actions):
            return
        self.answer(200, self.double.take(self._index(), actions))

    def answer(self, status: int, found: Any, **headers: str) -> None:
        content = b"" if found is None else json.dumps(found).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    def _index(self) -> str:
        return self.path.strip("/").split("/")[0 if not self.path.startswith("/prefix/") else 1]

    def _body(self) -> bytes:
        body = self.rfile.read(int(self.headers["Content-Length"] or 0))
        return gzip.decompress(body) if self.headers["Content-Encoding"] == "gzip" else body

    def _may(self) -> bool:
        self.double.requests.append((self.command, self.path))
        self.double.authorizations.append(self.headers["Authorization"] or "")
        wanted = "Basic " + b64encode(self.double.password.encode()).decode()
        if self.double.password and self.headers["Authorization"] != wanted:
            self.answer(401, {"error": "Unauthorized"})
            return False
        return True


@contextmanager
def search_double() -> Iterator[SearchDouble]:
    """Run a server until the end of the block."""
    double = SearchDouble()

    with listening(type("Bound", (Handler,), {"double": double})) as double.port:
        yield double


# ------------------------------------------------------------ faults


def turned_away(status: int, **headers: str) -> Fault:
    """Reject the whole request for now."""

    def fault(double: SearchDouble, handler: Handler, actions: object) -> bool:
        handler.answer(status, {"error": {"type": "overloaded", "reason": "later"}}, **headers)
        return True

    return fault


def broken_off(taken: bool, after: bytes = b"") -> Fault:
    """End the connection before or within the response, before or after the documents were stored."""

    def fault(double: SearchDouble, handler: Handler, actions: list[tuple[str, dict[str, Any]]]) -> bool:
        if taken:
            double.take(handler._index(), actions)
        handler.wfile.write(after)
        handler.close_connection = True
        handler.connection.shutdown(2)
        return True

    return fault


def silent(seconds: float) -> Fault:
    """Store the documents, and do not respond in time."""

    def fault(double: SearchDouble, handler: Handler, actions: list[tuple[str, dict[str, Any]]]) -> bool:
        double.take(handler._index(), actions)
        time.sleep(seconds)
        handler.close_connection = True
        return True

    return fault


def answered(found: object) -> Fault:
    """Respond with 200 and other content."""

    def fault(double: SearchDouble, handler: Handler, actions: object) -> bool:
        handler.answer(200, found)
        return True

    return fault


def fine(double: SearchDouble, handler: Handler, actions: object) -> bool:
    """No fault."""
    return False
