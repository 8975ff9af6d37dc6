from array import array
from collections.abc import Iterator

def find(places: array[int], directory: array[int], mask: int, digest: bytes) -> int | None: ...
def put_all(
    places: array[int],
    directory: array[int],
    mask: int,
    counts: array[int],
    full: int,
    numbers: Iterator[tuple[bytes, int]],
) -> tuple[bytes, int] | None: ...
