"""What the workers of a crawl tell each other: a stream in each slot, of which the latest messages are kept."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from crawlproject.frontier.redis.script import Operation

AT_ONCE = 64  # messages that are fetched together

Call = Callable[[int, Sequence[Operation]], list[Any]]


class MessageLog:
    """One worker's place in the streams. ``call`` does operations in a slot. ``kept``: messages of each, 0: nobody tells."""

    def __init__(self, call: Call, slots: int) -> None:
        self.kept = 0
        self._call = call
        self._latest = [b"0-0"] * slots
        self._published: dict[int, int] = {}

    def published(self, slot: int) -> int:
        """The number of the last numbered message that the slot had of this worker when that was asked first."""
        if slot not in self._published:
            self._published[slot] = int(float(self._call(slot, [("published",)])[0]))
        return self._published[slot]

    def publishing(self, message: bytes, number: int) -> Operation:
        """The operation that tells something."""
        return ("publish", number, self.kept, message)

    def asking(self, slot: int, *, own: bool = False) -> Operation:
        """The operation that asks for the next messages, with this worker's own or without."""
        return ("messages", self._latest[slot], AT_ONCE, int(own))

    def answered(self, slot: int, answer: list[bytes]) -> list[bytes]:
        """What came."""
        self._latest[slot], *messages = answer
        return messages

    def next(self, *, own: bool) -> list[bytes]:
        """The next messages of all slots; none: there are no more. Waits for the answers."""
        found: list[bytes] = []
        for slot in range(len(self._latest)):
            before = None
            while not found and before != self._latest[slot]:
                before = self._latest[slot]
                found += self.answered(slot, self._call(slot, [self.asking(slot, own=own)])[0])
        return found
