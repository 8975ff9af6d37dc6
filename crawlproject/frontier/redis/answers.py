"""What a worker knows by the answers of the server: URLs to take, and numbers as they were then."""

from __future__ import annotations

from collections import deque

from crawlproject.frontier.base import BlockedHost
from crawlproject.frontier.redis.client_thread import Replies
from crawlproject.frontier.redis.operations import SlotCounts, total_of
from crawlproject.records import CrawlUrl


class Answers:
    """The answers so far. ``arrived`` are leased URLs that nobody has taken here yet; ``due`` is as ``last_due`` says."""

    def __init__(self) -> None:
        self.arrived: deque[CrawlUrl] = deque()
        self.counts = SlotCounts()
        self.blocked: dict[str, BlockedHost] = {}
        self.due: float | None = 0.0
        self.delivered = 0  # URLs, counted by the thread of the exchange
        self._settled = 0  # those of them that have arrived here
        self._unanswered = 0  # calls without an answer yet
        self._quiet = False  # nothing waited and nothing was leased, twice in a row
        self._last: list[SlotCounts] = []

    def to_take(self) -> int:
        """URLs that are leased and that nobody has taken here yet."""
        return len(self.arrived) + self.delivered - self._settled

    def unanswered(self) -> int:
        """Calls that are on their way."""
        return self._unanswered

    def pending(self) -> bool:
        """Whether anything waits or is leased, or is on its way."""
        return bool(self._unanswered or self.to_take() or not self._quiet)

    def expect(self, calls: int) -> None:
        """So many calls were sent."""
        self._unanswered += calls
        self._quiet, self.due = False, 0.0

    def arrive(self, replies: Replies) -> None:
        """The URLs of an exchange are here."""
        self.arrived.extend(replies.taken)
        self._settled += len(replies.taken)
        self._unanswered -= len(replies.answered)

    def settle(self, replies: Replies) -> bool:
        """Know the numbers of an exchange. Whether whoever takes is to look again."""
        if replies.asked and not self._unanswered:
            self.due = replies.due if not replies.taken else 0.0
        pages = self.counts.pages
        self.counts = total_of(replies.counts)
        idle = self.counts.waiting == 0 and self.counts.leases == 0
        self._quiet = idle and replies.counts == self._last
        self._last = replies.counts
        self.blocked = {found.host: found for found in replies.blocked or ()}
        return bool(replies.taken) or self._quiet or self.counts.pages != pages or bool(self.blocked)
