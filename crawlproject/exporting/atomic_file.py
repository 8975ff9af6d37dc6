"""A file that appears under its name once it is complete."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from crawlproject.errors import StorageFailed


@contextmanager
def written_whole(path: Path) -> Iterator[BinaryIO]:
    """Open a temporary file beside ``path``, renamed to ``path`` at the end and removed when anything fails.

    Raises ``StorageFailed`` when a write fails.
    """
    draft = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            file = draft.open("w+b")
        except OSError as error:
            raise StorageFailed(f"cannot write {path}: {error}") from error
        with file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    except StorageFailed:
        raise
    except OSError as error:
        if error.filename not in (None, str(draft), str(path)):
            raise  # not an error of this file
        raise StorageFailed(f"cannot write {path}: {error}") from error
    finally:
        with suppress(OSError):
            draft.unlink(missing_ok=True)
