"""What power cuts and failing disks do to files."""

from __future__ import annotations

from pathlib import Path
from random import Random

_BLOCK = 4096


def cut_tail(path: Path, random: Random) -> str:
    """Some last bytes are missing; at times the whole file is."""
    size = path.stat().st_size
    if random.random() < 0.1:
        path.unlink()
        return f"{path.name} removed"
    lost = min(size, random.choice((200, 1500, 4000, 12_000)))
    with path.open("r+b") as file:
        file.truncate(size - lost)
    return f"{path.name}: last {lost} of {size} bytes cut"


def zero_tail(path: Path, random: Random) -> str:
    """The last blocks hold zeros."""
    size = path.stat().st_size
    first = max(0, (size - 1) // _BLOCK - random.randrange(3)) * _BLOCK
    with path.open("r+b") as file:
        file.seek(first)
        file.write(bytes(size - first))
    return f"{path.name}: zeros from byte {first} of {size}"


def flip_bits(path: Path, random: Random) -> str:
    """One to four bits are others."""
    data = bytearray(path.read_bytes())
    end = len(data.rstrip(b"\0")) or len(data)  # what a file was made longer by in advance is nothing that it holds
    places = [random.randrange(end) for _ in range(random.randint(1, 4))]
    for place in places:
        data[place] ^= 1 << random.randrange(8)
    path.write_bytes(bytes(data))
    return f"{path.name}: bits flipped at {sorted(places)} of {len(data)}"


def files_of(folder: Path) -> list[Path]:
    """The files of a crawl folder that hold anything, one page file for all of them; the same order each time."""
    pages = sorted(path for path in folder.glob("pages/*/*/*"))
    others = sorted(path for path in folder.rglob("*") if path.is_file() and "pages" not in path.parts)
    return [path for path in [*others, *pages[:1]] if path.stat().st_size and path.name != "lock"]
