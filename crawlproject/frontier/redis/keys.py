"""The names of the keys in Redis. The keys of a crawl carry its hash tag, so that one step may change several of them. The inbox
of each worker and the clock of each host may lie on any node of a Redis Cluster.
"""

from __future__ import annotations

NAMESPACE = "topical"  # the prefix of all keys, except those that seeds are pushed to

_OF_CRAWL = (
    "members",  # hash: worker -> epoch at which it joined; negative: at which it began to leave
    "alive",  # zset: worker -> when it counts as lost, unless it gives another sign of life
    "tokens",  # hash: worker -> token of the process that uses this name
    "reserved",  # hash: worker -> pages that it has stored or is fetching
    "pages",  # hash: worker -> pages that it has stored
    "reports",  # hash: worker -> its report about itself (``report.Report``)
    "epoch",  # number of changes of the members so far
)


class CrawlKeys:
    """The keys of one crawl."""

    def __init__(self, crawl: str) -> None:
        self.crawl = crawl
        self.root = f"{NAMESPACE}:{{{crawl}}}"
        self.beat = [f"{self.root}:{name}" for name in _OF_CRAWL]
        self.members, self.alive, self.tokens, self.reserved, self.pages, self.reports, self.epoch = self.beat
        self.messages = f"{self.root}:messages"  # stream: what workers publish, worker -> message
        self.published = f"{self.root}:published"  # hash: worker -> number of its last numbered message
        self.attached = f"{self.root}:attached"  # hash: URL -> number, newline, message for the next fetch
        self.pace = [f"{self.root}:pace", f"{self.root}:grants"]

    def inbox(self, worker: str) -> str:
        """The stream of letters to this worker."""
        return f"{NAMESPACE}:{{{self.crawl}/{worker}}}:inbox"


def clock_of(place: str) -> str:
    """The clock of a host or an address (``@192.0.2.1``). All crawls share it: the server sees one visitor of ours at a time."""
    return f"{NAMESPACE}:clock:{place}"
