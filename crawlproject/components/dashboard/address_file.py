"""``dashboard.json``: where the live view of a running crawl is, for ``scrapy dashboard``, which shows several crawls.

Only its owner may read it: the token in it is what lets a program pause or stop the crawl.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import orjson

from crawlproject.errors import StorageFailed

NAME = "dashboard.json"


class AddressFile(NamedTuple):
    """The address of a live view as ``http://host:port``, the token that its requests carry, its process."""

    url: str
    token: str
    process: int


def light(folder: Path, beacon: AddressFile) -> None:
    """Leave word in the crawl folder. Raises ``StorageFailed``."""
    path = folder / NAME
    draft = path.with_name(f"{NAME}.{os.getpid()}.tmp")
    try:
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(orjson.dumps(beacon._asdict()))
        draft.replace(path)
    except OSError as error:
        raise StorageFailed(f"cannot write {path}: {error}") from error


def put_out(folder: Path) -> None:
    """The live view has ended."""
    with suppress(OSError):
        (folder / NAME).unlink()


def find(folder: Path) -> AddressFile | None:
    """The live view of the crawl in ``folder``; None when there is none, or when its process has died."""
    try:
        found = orjson.loads((folder / NAME).read_bytes())
        beacon = AddressFile(str(found["url"]), str(found["token"]), int(found["process"]))
        os.kill(beacon.process, 0)
    except (OSError, ValueError, KeyError, TypeError, OverflowError):
        return None
    return beacon if beacon.url.startswith("http://") else None
