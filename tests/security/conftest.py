"""One crawl that starts at an attacker's page; every test in this folder may inspect its results."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pytest
from support.attacker import Attacker, Crawled, Secret, attacking
from support.crawling import crawl, topic_file

HOSTS = (
    "127.0.0.1", "2130706433", "0x7f000001", "0x7f.1", "0177.0.0.1", "127.1", "127.0.0.1.", "localhost", "x.localhost",
    "[::1]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "0", "0.0.0.0", "[::]", "[64:ff9b::7f00:1]", "user:pw@127.0.0.1",
)  # fmt: skip
OTHERS = ("file:///etc/passwd", "ftp://127.0.0.1/", "gopher://127.0.0.1:6379/_x", "data:text/html,x", "javascript:x")
SETTINGS = {
    "DOWNLOAD_TIMEOUT": 1,
    "RETRY_TIMES": 0,
    "CRAWL_RETRY_DELAY": 0.1,
    "REDIRECT_MAX_TIMES": 3,
    "CRAWL_BLOCKED_REST": 0.001,  # doubled with each bomb and flood
    "CRAWL_BLOCKS_UNTIL_GIVEN_UP": 0,
}


@pytest.fixture(scope="session")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Crawled]:
    """The results of the crawl: folder, output, exit code, and the number of connections to the secret server."""
    place = tmp_path_factory.mktemp("attack")
    with closing(Secret()) as secret:
        inner = [f"http://{host}:{secret.port}/secret" for host in HOSTS]
        links = [*inner, *OTHERS, "http://127.0.0.1:22/", "http://192.168.77.7/", "http://169.254.169.254/latest/"]
        attacker = Attacker(links, [*inner, "http://169.254.169.254/", "file:///etc/passwd", "//127.0.0.1:22/"])
        with attacking(attacker) as port:
            origin = f"http://127.0.0.1:{port}"
            done = crawl(
                topic_file(place, f"{origin}/"),
                place / "crawl",
                CRAWL_ALLOWED_PORTS=f"80,443,{secret.port}",
                **SETTINGS,
            )
        yield Crawled(place / "crawl", done.stderr + done.stdout, done.returncode, secret.visits, origin)
