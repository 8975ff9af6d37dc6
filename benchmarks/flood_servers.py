"""Servers that try to keep a crawler busy, beside honest ones: each host is a loopback address.

``127.0.1.N`` are honest hosts: small pages with endless links to more pages of the same host. ``127.0.2.N`` is a host of the
N-th kind of ``FLOODS``, ``127.0.3.N`` one of many hosts that the kind ``robots_chain`` leads through. ``127.1.N.M`` is the
M-th host of a swarm of the N-th kind. ``127.2.N.M`` are hosts of one domain, each of which links to others, without end.
``127.0.4.N`` are the honest hosts that the control ``neighbours`` leads to, as many as ``robots_chain`` has.
"""

from __future__ import annotations

import asyncio
import contextlib
import subprocess
import sys
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from gzip import compress
from itertools import count
from pathlib import Path
from random import Random
from typing import NamedTuple

import brotli

from benchmarks.endless import vocabulary

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

HTML = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n"
NOT_FOUND = b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"
LINKS = 5  # of a page
WORDS = vocabulary()
BLOCK = 2**16  # bytes that a flood writes at a time
DRIP = 0.2  # seconds between two bytes
CHAIN_HOSTS = 250
CODINGS = ("gzip", "br", "zstd")

Pieces = AsyncIterator[bytes]


def honest_page(host: str, path: str) -> bytes:
    """A unique page of 5 KB with links to more pages of the same host."""
    number = int(path.strip("/") or 0) if path.strip("/").isdecimal() else 0
    random = Random(f"{host} {number}")
    texts = (" ".join(random.choices(WORDS, k=100)) for _ in range(LINKS))
    links = "".join(
        f'<p>{text} <a href="/{LINKS * number + n + 1}">coral reef {text[:30]}</a></p>' for n, text in enumerate(texts)
    )
    return whole(f"<html lang=en><title>{random.choice(WORDS)}</title><body>{links}</body></html>".encode())


def whole(body: bytes, headers: bytes = b"") -> bytes:
    return HTML + headers + b"Content-Length: %d\r\n\r\n" % len(body) + body


def front(host: str, links: Iterable[str]) -> bytes:
    """The unique front page of a flood, with links to the flood's pages."""
    random = Random(host)
    texts = ((link, " ".join(random.choices(WORDS, k=30))) for link in links)
    return whole("".join(f'<p>{text} <a href="{link}">coral reef</a></p>' for link, text in texts).encode())


async def repeated(head: bytes, piece: bytes, wait: float = 0.0) -> Pieces:
    """``head``, then ``piece`` without end, in blocks of ``BLOCK`` bytes, or one by one with a ``wait`` in seconds."""
    yield head
    block = piece if wait else piece * max(1, BLOCK // len(piece))
    while True:
        yield block
        await asyncio.sleep(wait)


async def numbered(head: bytes, line: bytes) -> Pieces:
    """``head``, then ``line`` with a running number, without end."""
    yield head
    for block in count():
        yield b"".join(line % number for number in range(1000 * block, 1000 * block + 1000))
        await asyncio.sleep(0)


async def once(data: bytes) -> Pieces:
    yield data


@cache
def bomb(coding: str) -> bytes:
    """Some kilobytes that decompress to 100 MB."""
    zeros = bytes(100_000_000)
    pack = {
        "gzip": lambda: compress(zeros, 9),
        "br": lambda: brotli.compress(zeros, quality=3),
        "zstd": lambda: zstd.compress(zeros),
    }
    return whole(pack[coding](), b"Content-Encoding: " + coding.encode() + b"\r\n")


def strewn(host: str, name: str, port: int) -> bytes:
    """A page of a host called ``name``, with links to five other hosts, below the same domain if the name is below one."""
    random = Random(host)
    others = (f"127.2.{random.randrange(256)}.{random.randrange(1, 255)}" for _ in range(5))
    domain = name.partition(".")[2]
    names = others if name == host else (f"{each.replace('.', '-')}.{domain}" for each in others)
    return front(host, (f"http://{each}:{port}/" for each in names))


def chained(host: str) -> bytes:
    """The redirect from the robots.txt of one host of a chain to that of the next host."""
    number = (int(host.rpartition(".")[2]) + 1) % CHAIN_HOSTS
    return (
        f"HTTP/1.1 302 Found\r\nLocation: http://127.0.3.{number}:%d/robots.txt\r\nContent-Length: 0\r\n\r\n".encode()
    )


CHUNKED = HTML + b"Transfer-Encoding: chunked\r\n\r\n"
INTERIM = b"HTTP/1.1 103 Early Hints\r\nLink: </x>; rel=preload\r\n\r\n"
RULES = b"Disallow: /a*b*%d*c$\n"
TEXT = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n"

_PAGES = {
    "interim": lambda: repeated(b"", INTERIM),
    "headers": lambda: numbered(HTML, b"X-%d: y\r\n"),
    "long_header": lambda: repeated(HTML + b"X-Long: ", b"y" * 1000),
    "gzip": lambda: once(bomb("gzip")),
    "brotli": lambda: once(bomb("br")),
    "zstd": lambda: once(bomb("zstd")),
    "chunks": lambda: repeated(CHUNKED, b"1\r\n \r\n"),
    "pieces": lambda: repeated(HTML + b"\r\n", b" ", wait=1e-9),
    "trailers": lambda: repeated(CHUNKED + b"4\r\nreef\r\n0\r\n", b"X-T: " + b"y" * 1000 + b"\r\n"),
    "drip": lambda: repeated(HTML + b"\r\n<p>coral reef ", b"x", wait=DRIP),
    "head_drip": lambda: repeated(HTML + b"X-Drip: ", b"x", wait=DRIP),
    "unasked": lambda: repeated(whole(b"<p>coral reef"), whole(b"")),
    "endless": lambda: repeated(HTML + b"\r\n", b"<p>coral reef</p>"),
}
_ROBOTS = {
    "robots_rules": lambda: numbered(TEXT + b"User-agent: *\n", RULES),
    "robots_line": lambda: repeated(TEXT + b"User-agent: *\nDisallow: /", b"a*"),
    "robots_interim": lambda: repeated(b"", INTERIM),
    "robots_drip": lambda: repeated(TEXT, b"#", wait=DRIP),
}
OF_ONE_HOST = (*_PAGES, *_ROBOTS)
FLOODS = (*OF_ONE_HOST, "robots_chain", "wildcard")
KINDS = (*FLOODS, "neighbours")  # the control: the cost of as many honest hosts


class FloodServer:
    """Serves the hosts; ``served`` counts the requests to each host, robots.txt included."""

    def __init__(self) -> None:
        self.served: dict[str, int] = {}
        self.port = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        host = writer.get_extra_info("sockname")[0]
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                path = head.split(b" ", 2)[1].decode()
                self.served[host] = self.served.get(host, 0) + 1
                name = next(line for line in head.split(b"\r\n") if line.lower().startswith(b"host:"))
                async for piece in self.answer(host, path, name[5:].strip().decode().partition(":")[0]):
                    writer.write(piece)
                    await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    def answer(self, host: str, path: str, name: str) -> Pieces:
        swarm, block, number = map(int, host.split(".")[1:])
        if swarm == 1:
            block, number = 2, block
        elif swarm:
            block, number = 2, FLOODS.index("wildcard") + 1
        robots = path.endswith("/robots.txt")
        if block == 3:
            return once(chained(host) % self.port if robots else honest_page(host, path))
        if block in (1, 4):
            return once(NOT_FOUND if robots else honest_page(host, path))
        kind = KINDS[number - 1]
        if robots and kind in _ROBOTS:
            return _ROBOTS[kind]()
        if robots:
            return once(NOT_FOUND)
        if kind == "wildcard":
            return once(strewn(host, name, self.port))
        if kind in ("robots_chain", "neighbours"):
            block = 3 if kind == "robots_chain" else 4
            return once(front(host, (f"http://127.0.{block}.{n}:{self.port}/" for n in range(CHAIN_HOSTS))))
        flooding = kind in _PAGES and path.startswith("/flood/")
        return _PAGES[kind]() if flooding else once(front(host, (f"/flood/{n}" for n in range(40))))

    async def start(self) -> None:
        """Listen at every loopback address."""
        listening = await asyncio.start_server(self.serve, "0.0.0.0", 0, backlog=1000)
        self.port = listening.sockets[0].getsockname()[1]


async def _serve() -> None:
    server = FloodServer()
    await server.start()
    for coding in CODINGS if "floods" in sys.argv else ():
        bomb(coding)  # now, because it takes a second
    print(server.port, flush=True)
    await asyncio.Event().wait()


class Ports(NamedTuple):
    honest: int
    floods: int

    def seeds(self, floods: Sequence[str], honest: int, swarm: int = 0, *, named: bool = False) -> list[str]:
        """The front pages of ``honest`` honest hosts, and of one host for each of ``floods``, or ``swarm`` hosts of these kinds.

        ``named``: honest hosts have a domain each, floods are below one domain; a proxy resolves the names.
        """
        if swarm:
            kinds = [KINDS.index(floods[n % len(floods)]) + 1 for n in range(swarm)] if floods else []
            hosts = [f"127.1.{kind}.{n + 1}" for n, kind in enumerate(kinds)]
        else:
            hosts = [f"127.0.2.{KINDS.index(kind) + 1}" for kind in floods]
        good = [f"127.0.1.{n + 1}" for n in range(honest)]
        if named:
            good = [f"{address.replace('.', '-')}.good{n}.example" for n, address in enumerate(good)]
            hosts = [f"{address.replace('.', '-')}.evil.example" for address in hosts]
        return [
            *(f"http://{host}:{self.honest}/" for host in good),
            *(f"http://{host}:{self.floods}/" for host in hosts),
        ]


@contextmanager
def flood_servers() -> Iterator[Ports]:
    """Serve the honest hosts and the floods in a process each; the floods get only CPU time that is otherwise idle."""
    command = [sys.executable, "-m", "benchmarks.flood_servers"]
    root = Path(__file__).resolve().parent.parent
    honest = subprocess.Popen(command, cwd=root, stdout=subprocess.PIPE, text=True)
    floods = subprocess.Popen(["nice", "-n", "19", *command, "floods"], cwd=root, stdout=subprocess.PIPE, text=True)
    with honest, floods:
        assert honest.stdout and floods.stdout
        try:
            yield Ports(int(honest.stdout.readline()), int(floods.stdout.readline()))
        finally:
            honest.kill()
            floods.kill()


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(_serve())
