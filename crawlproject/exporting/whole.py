"""Files and folders that appear under their name once they are complete."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from crawlproject.errors import BadInput, StorageFailed


@contextmanager
def written_whole(path: Path) -> Iterator[BinaryIO]:
    """Open a temporary file beside ``path``, renamed to ``path`` at the end and removed when anything fails.

    Raises ``BadInput`` where there is something else than a file, which would be replaced, such as a device, and
    ``StorageFailed`` when a write fails.
    """
    if not path.name or (path.exists() and not path.is_file()):
        raise BadInput(str(path), "expected the name of a new file, or of one that is written anew")
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


@contextmanager
def folder_written_whole(target: Path) -> Iterator[Path]:
    """A folder that is renamed to ``target``, which is new or empty, at the end, and removed when anything fails.

    Raises ``BadInput`` and ``StorageFailed``.
    """
    if not target.name or (target.exists() and (not target.is_dir() or any(target.iterdir()))):
        raise BadInput(str(target), "expected the name of a new or an empty folder")
    draft = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        draft.mkdir(parents=True)
        yield draft
        if target.exists():
            target.rmdir()  # it is empty
        draft.rename(target)
    except OSError as error:
        raise StorageFailed(f"cannot write {target}: {error}") from error
    finally:
        shutil.rmtree(draft, ignore_errors=True)
