"""What the sub-commands share: bad input is one message and exit code 2."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from crawlproject.errors import BadInput, StorageFailed

if TYPE_CHECKING:
    from scrapy.commands import ScrapyCommand

BAD_INPUT = 2
STOPPED = 3
INTERRUPTED = 130  # as a shell tells of a program that Ctrl-C ended


@contextmanager
def reporting_errors(command: ScrapyCommand) -> Iterator[None]:
    """Inside, ``BadInput`` and ``StorageFailed`` become a message on standard error and the command's exit code."""
    try:
        yield
    except BadInput as wrong:
        print(f"scrapy: {wrong}", file=sys.stderr)
        command.exitcode = BAD_INPUT
    except StorageFailed as failure:
        print(f"scrapy: {failure}", file=sys.stderr)
        command.exitcode = STOPPED


def cache_dir() -> Path:
    """Where indexes of archives are kept between runs (XDG base directory specification)."""
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "topical-crawler"
