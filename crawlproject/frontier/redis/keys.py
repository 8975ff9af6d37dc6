"""How the keys in Redis are called. Those of one crawl carry its hash tag, so that one step may change several; the inbox of
each worker, and the clock of each host, lie on any node of a Redis Cluster.
"""

from __future__ import annotations

NAMESPACE = "topical"  # of all keys, besides the keys to push seeds to

_OF_CRAWL = (
    "members",  # hash: worker -> epoch at which it joined; negative: at which it began to leave
    "alive",  # zset: worker -> when it counts as lost unless it calls again
    "tokens",  # hash: worker -> token of the process that uses this name
    "reserved",  # hash: worker -> pages that it has stored, or is fetching
    "pages",  # hash: worker -> pages that it has stored
    "reports",  # hash: worker -> what it says of itself (``report.Report``)
    "epoch",  # number of the changes of the members
)


class CrawlKeys:
    """The keys of one crawl."""

    def __init__(self, crawl: str) -> None:
        self.crawl = crawl
        self.root = f"{NAMESPACE}:{{{crawl}}}"
        self.beat = [f"{self.root}:{name}" for name in _OF_CRAWL]
        self.members, self.alive, self.tokens, self.reserved, self.pages, self.reports, self.epoch = self.beat
        self.messages = f"{self.root}:messages"  # stream: what workers tell each other, worker -> message
        self.published = f"{self.root}:published"  # hash: worker -> number of its last message that has one
        self.attached = f"{self.root}:attached"  # hash: URL -> number, newline, message for whoever fetches it next
        self.pace = [f"{self.root}:pace", f"{self.root}:grants"]

    def inbox(self, worker: str) -> str:
        """A stream: what is for this worker, as its hosts are concerned."""
        return f"{NAMESPACE}:{{{self.crawl}/{worker}}}:inbox"


def clock_of(place: str) -> str:
    """The clock of a host, or of an address (``@192.0.2.1``): of all crawls, as it sees one visitor of us at a time."""
    return f"{NAMESPACE}:clock:{place}"
