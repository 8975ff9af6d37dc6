"""A name server on loopback that answers address queries over UDP from a given table (RFC 1035 section 4)."""

from __future__ import annotations

import socket
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from ipaddress import ip_address
from struct import pack

A = 1  # the type of a query for IPv4 addresses; AAAA is 28
_REPLY, _NO_SUCH_NAME = 0x8180, 3
_SAME_NAME = 0xC00C  # a pointer to the name in the query


class NameServer:
    """``answers``: addresses and TTL in seconds by name. Other names do not exist; names with prefix ``silent`` get no reply.

    ``any_name``: the address of all names. ``asked`` counts the queries for IPv4 addresses by name. The server listens at
    ``place``, ``address:port``.
    """

    def __init__(self, answers: dict[str, tuple[list[str], int]] | None = None, any_name: str = "") -> None:
        self.answers = answers or {}
        self.any_name = any_name
        self.asked: Counter[str] = Counter()
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2**22)
        self.socket.bind(("127.0.0.1", 0))
        self.place = "{}:{}".format(*self.socket.getsockname())

    def serve(self) -> None:
        """Answer queries until an empty packet arrives."""
        while True:
            question, address = self.socket.recvfrom(4096)
            if not question:
                return
            if reply := self.reply(question):
                self.socket.sendto(reply, address)

    def reply(self, question: bytes) -> bytes:
        labels, at = [], 12
        while length := question[at]:
            labels.append(question[at + 1 : at + 1 + length].decode())
            at += 1 + length
        kind = int.from_bytes(question[at + 1 : at + 3], "big")
        name = ".".join(labels).lower()
        self.asked[name] += kind == A
        if name.startswith("silent"):
            return b""
        found, ttl = self.answers.get(name, ([self.any_name] if self.any_name else [], 300))
        packed = [address.packed for address in map(ip_address, found) if (address.version == 4) == (kind == A)]
        records = [pack(">HHHIH", _SAME_NAME, kind, 1, ttl, len(address)) + address for address in packed]
        head = pack(">HHHHH", _REPLY if found else _REPLY | _NO_SUCH_NAME, 1, len(records), 0, 0)
        return question[:2] + head + question[12 : at + 5] + b"".join(records)


@contextmanager
def serving(server: NameServer) -> Iterator[NameServer]:
    """Run the server in a thread."""
    thread = threading.Thread(target=server.serve, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.socket.sendto(b"", server.socket.getsockname())
        thread.join(10)
        server.socket.close()
