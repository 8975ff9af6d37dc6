"""The damage that power cuts and failing disks do to files."""

from __future__ import annotations

from pathlib import Path
from random import Random

_BLOCK = 4096


def cut_tail(path: Path, random: Random) -> str:
    """Cut off some last bytes, or sometimes the whole file."""
    size = path.stat().st_size
    if random.random() < 0.1:
        path.unlink()
        return f"{path.name} removed"
    lost = min(size, random.choice((200, 1500, 4000, 12_000)))
    with path.open("r+b") as file:
        file.truncate(size - lost)
    return f"{path.name}: last {lost} of {size} bytes cut"


def zero_tail(path: Path, random: Random) -> str:
    """Fill the last blocks with zeros."""
    size = path.stat().st_size
    first = max(0, (size - 1) // _BLOCK - random.randrange(3)) * _BLOCK
    with path.open("r+b") as file:
        file.seek(first)
        file.write(bytes(size - first))
    return f"{path.name}: zeros from byte {first} of {size}"


def flip_bits(path: Path, random: Random) -> str:
    """Flip one to four bits."""
    data = bytearray(path.read_bytes())
    end = len(data.rstrip(b"\0")) or len(data)  # leave out zeros by which a file was extended in advance
    places = [random.randrange(end) for _ in range(random.randint(1, 4))]
    for place in places:
        data[place] ^= 1 << random.randrange(8)
    path.write_bytes(bytes(data))
    return f"{path.name}: bits flipped at {sorted(places)} of {len(data)}"


def files_of(folder: Path) -> list[Path]:
    """The non-empty files of a crawl folder, of the page files only the first; always in the same order."""
    pages = sorted(path for path in folder.glob("pages/*/*/*"))
    others = sorted(path for path in folder.rglob("*") if path.is_file() and "pages" not in path.parts)
    return [path for path in [*others, *pages[:1]] if path.stat().st_size and path.name != "lock"]
