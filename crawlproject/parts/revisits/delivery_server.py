"""What hubs send to a crawl (WebSub): verifications and deliveries. Strangers may find the port.

Nothing that comes is kept: of a delivery only the signature is computed, piece by piece.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable

from aiohttp import web

from crawlproject.adapters.clock import time
from crawlproject.errors import StorageFailed
from crawlproject.http.loopback import ListeningServer, answer
from crawlproject.parts.revisits.subscriptions import Subscriptions

MOST_BODY = 4 * 1024 * 1024  # bytes of a delivery
MOST_CHALLENGE = 4_096  # characters
CONNECTIONS = 100  # at the same time; further ones are closed at once
LONGEST = 30.0  # seconds that a connection lasts
SIGNATURE = "X-Hub-Signature"


class _BriefConnections(web.Server):
    """Closes connections that last too long, whatever they do, and those that are too many."""

    def __init__(self, handler: Callable[[web.BaseRequest], Awaitable[web.Response]], longest: float) -> None:
        super().__init__(handler, access_log=None, keepalive_timeout=0, lingering_time=0)
        self._longest = longest

    def __call__(self) -> web.RequestHandler:
        connection = super().__call__()
        rest = self._longest if len(self.connections) < CONNECTIONS else 0.0
        asyncio.get_running_loop().call_later(rest, connection.force_close)
        return connection


class DeliveryServer(ListeningServer):
    """Answers for ``subscriptions``, each at the last part of its path, so that a proxy may serve it under any other.

    ``tell`` is called with the name of what came, ``failed`` when the disk refused to note it. No connection lasts longer than
    so many seconds.
    """

    def __init__(
        self,
        subscriptions: Subscriptions,
        listening: socket.socket,
        tell: Callable[[str], object],
        failed: Callable[[StorageFailed], object],
        longest: float = LONGEST,
    ) -> None:
        super().__init__(listening)
        self._subscriptions = subscriptions
        self._tell = tell
        self._failed = failed
        self.is_open = True  # False: the crawl ends
        self._longest = longest

    def _server(self) -> web.Server:
        return _BriefConnections(self._answer, self._longest)

    async def _answer(self, request: web.BaseRequest) -> web.Response:
        path = request.path.rpartition("/")[2]
        try:
            if request.method == "GET":
                return self._verification(request, path)
            if request.method == "POST":
                return await self._delivery(request, path)
        except StorageFailed as failure:
            self._failed(failure)
            return _said("", 503)
        return _said("", 405)

    def _verification(self, request: web.BaseRequest, path: str) -> web.Response:
        query = {name: request.query[name] for name in request.query}
        asked = len(query.get("hub.challenge", "")) <= MOST_CHALLENGE
        challenge = self._subscriptions.challenge(path, query, time()) if asked and self.is_open else None
        if challenge is None:
            return _said("no such subscription", 404)
        self._tell(f"heard/{query['hub.mode']}")
        return _said(challenge, 200)

    async def _delivery(self, request: web.BaseRequest, path: str) -> web.Response:
        signed = self._subscriptions.signed(path, request.headers.get(SIGNATURE, ""))
        if signed is None:
            return _said("no such subscription", 404)
        size = 0
        async for piece in request.content.iter_any():
            size += len(piece)
            if size > MOST_BODY:
                self._tell("ignored")
                return _said("too long", 413)
            signed.add(piece)
        counts = self.is_open and self._subscriptions.delivered(path, signed, time())
        self._tell("delivered" if counts else "ignored")
        return _said("", 202)  # also what is ignored: a forger learns nothing


def _said(text: str, status: int) -> web.Response:
    return answer(text.encode(), "text/plain; charset=utf-8", status=status)
