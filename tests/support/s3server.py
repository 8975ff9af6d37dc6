"""An S3 server (moto) on loopback in a separate process, which credentials of the machine do not open."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from urllib.error import URLError
from urllib.request import Request, urlopen

import fsspec

from support.scrapyd import free_port

SECRET = "q7-very-secret-key"
BUCKET = "crawls"


@dataclass(frozen=True)
class S3Server:
    """``environment`` holds the variables that a program needs to write to the server."""

    url: str
    environment: dict[str, str]

    def files(self) -> fsspec.AbstractFileSystem:
        """An fsspec file system without caches."""
        own = {"endpoint_url": self.url, "key": "tests", "secret": SECRET}
        return fsspec.filesystem("s3", skip_instance_cache=True, use_listings_cache=False, **own)

    def keys(self, folder: str = BUCKET) -> set[str]:
        """The names of the objects below a folder, relative to it."""
        return {path.removeprefix(f"{folder}/") for path in self.files().find(folder)}

    def refuse(self) -> None:
        """Refuse all credentials from now on."""
        urlopen(Request(f"{self.url}/moto-api/reset-auth", b"0", {"Content-Type": "text/plain"}), timeout=5).close()

    def unfinished(self) -> list[str]:
        """The keys of incomplete multipart uploads."""
        found = self.files().call_s3("list_multipart_uploads", Bucket=BUCKET)
        return [upload["Key"] for upload in found.get("Uploads", [])]


class BreakingProxy:
    """Forwards data to a server until ``breaks`` finds something in it; then it cuts the connection."""

    def __init__(self, port: int) -> None:
        self.port = 0
        self.cut = 0
        self.breaks: Callable[[bytes], bool] = lambda data: False
        self._target = port

    @contextmanager
    def running(self) -> Iterator[BreakingProxy]:
        with socket.create_server(("127.0.0.1", 0)) as listener:
            self.port = listener.getsockname()[1]
            threading.Thread(target=self._accept, args=(listener,), daemon=True).start()
            yield self

    def _accept(self, listener: socket.socket) -> None:
        with suppress(OSError):
            while True:
                client, _ = listener.accept()
                server = socket.create_connection(("127.0.0.1", self._target))
                for ends in ((client, server), (server, client)):
                    threading.Thread(target=self._pass_on, args=(*ends, ends[0] is client), daemon=True).start()

    def _pass_on(self, source: socket.socket, target: socket.socket, is_request: bool) -> None:
        with suppress(OSError):
            while data := source.recv(2**16):
                if is_request and self.breaks(data):
                    self.cut += 1
                    break
                target.sendall(data)
        for end in (source, target):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)


@contextmanager
def s3_server() -> Iterator[S3Server]:
    """Run a server with an empty bucket."""
    port = free_port()
    own = {
        "AWS_ACCESS_KEY_ID": "tests",
        "AWS_SECRET_ACCESS_KEY": SECRET,
        "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}",
        "AWS_DEFAULT_REGION": "us-east-1",
    }
    quiet = subprocess.DEVNULL
    arguments = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
    with subprocess.Popen(arguments, stdout=quiet, stderr=quiet, env=os.environ | own) as process:
        try:
            server = S3Server(own["AWS_ENDPOINT_URL"], own)
            while process.poll() is None:
                try:
                    urlopen(f"{server.url}/moto-api/", timeout=5).close()
                    break
                except (URLError, OSError):
                    time.sleep(0.05)
            server.files().mkdir(BUCKET)
            yield server
        finally:
            process.kill()
