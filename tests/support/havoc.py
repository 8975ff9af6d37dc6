"""Random mutations of other inputs: many times as fast as Hypothesis, which generates each input from scratch."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any


def mutated(value: Any, others: Sequence[Any], random: Random) -> Any:
    """``value`` with some pieces cut out, doubled, or replaced by noise or by pieces of another input of the same shape."""
    if isinstance(value, tuple):
        number = random.randrange(len(value))
        changed = mutated(
            value[number], [other[number] for other in random.sample(others, min(4, len(others)))], random
        )
        return (*value[:number], changed, *value[number + 1 :])
    if isinstance(value, list) and value:
        number = random.randrange(len(value))
        items = [item for other in others if isinstance(other, list) for item in other]
        return [*value[:number], mutated(value[number], items or value, random), *value[number + 1 :]]
    if not isinstance(value, bytes | str):
        return random.choice(others)
    for _ in range(1 << random.randrange(5)):
        value = _changed(value, random.choice(others), random)
    return value[:20_000]


def _changed(value: Any, other: Any, random: Random) -> Any:
    start = random.randint(0, len(value))
    end = min(len(value), start + (1 << random.randrange(7)))
    piece = value[start:end]
    there = random.randint(0, len(other))
    new = (
        value[:0],
        piece * random.randint(2, 9),
        other[there : there + (1 << random.randrange(8))],
        random.randbytes(random.randint(1, 4)) if isinstance(value, bytes) else chr(random.randrange(0xD800)),
        piece[::-1],
    )[random.randrange(5)]
    return value[:start] + new + value[end:]
