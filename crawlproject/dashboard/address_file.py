"""``dashboard.json``: the address of a running crawl's dashboard, for ``scrapy dashboard``, which shows several crawls.

Only its owner may read it: with the token in it, a program can pause or stop the crawl.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import orjson

from crawlproject.errors import trying_to

NAME = "dashboard.json"


class AddressFile(NamedTuple):
    """``url`` is ``http://host:port``, ``token`` the secret that requests must carry, ``process`` the ID of the process."""

    url: str
    token: str
    process: int


def write(folder: Path, address: AddressFile) -> None:
    """Write the address into the crawl folder. Raises ``StorageFailed``."""
    path = folder / NAME
    draft = path.with_name(f"{NAME}.{os.getpid()}.tmp")
    with trying_to("write", path):
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(orjson.dumps(address._asdict()))
        draft.replace(path)


def remove(folder: Path) -> None:
    """Remove the file after the dashboard has ended."""
    with suppress(OSError):
        (folder / NAME).unlink()


def find(folder: Path) -> AddressFile | None:
    """The address of the dashboard of the crawl in ``folder``; None if there is none, or if its process has died."""
    try:
        found = orjson.loads((folder / NAME).read_bytes())
        address = AddressFile(str(found["url"]), str(found["token"]), int(found["process"]))
        os.kill(address.process, 0)
    except (OSError, ValueError, KeyError, TypeError, OverflowError):
        return None
    return address if address.url.startswith("http://") else None
