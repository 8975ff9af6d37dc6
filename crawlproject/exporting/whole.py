"""Files and folders that appear under their names only once they are complete."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from crawlproject.errors import BadInput, StorageFailed, trying_to
from crawlproject.storage.append_log import draft_beside


@contextmanager
def written_whole(path: Path) -> Iterator[BinaryIO]:
    """Open a temporary file beside ``path``, renamed to ``path`` at the end and removed if anything fails.

    Raises ``BadInput`` if ``path`` is something other than a file, such as a device, which would be replaced, and
    ``StorageFailed`` if a write fails.
    """
    if not path.name or (path.exists() and not path.is_file()):
        raise BadInput(str(path), "expected the name of a new file, or of one to replace")
    draft = draft_beside(path.with_name(f".{path.name}"), f".{os.getpid()}.part")
    try:
        with trying_to("write", path):
            path.parent.mkdir(parents=True, exist_ok=True)
            file = draft.open("w+b")
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


@contextmanager
def folder_written_whole(target: Path) -> Iterator[Path]:
    """Make a temporary folder, renamed to ``target`` at the end and removed if anything fails.

    Raises ``BadInput`` unless ``target`` is new or an empty folder, and ``StorageFailed``.
    """
    if not target.name or (target.exists() and (not target.is_dir() or any(target.iterdir()))):
        raise BadInput(str(target), "expected the name of a new or an empty folder")
    draft = draft_beside(target.with_name(f".{target.name}"), f".{os.getpid()}.part")
    try:
        with trying_to("write", target):
            draft.mkdir(parents=True)
            yield draft
            if target.exists():
                target.rmdir()  # it is empty
            draft.rename(target)
    finally:
        shutil.rmtree(draft, ignore_errors=True)
