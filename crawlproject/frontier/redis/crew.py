"""The requests of a worker to Redis. Each step is one pipeline of commands and small scripts (``lua/``), and may be repeated."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

from redis.cluster import RedisCluster
from redis.exceptions import NoScriptError, ResponseError

from crawlproject.errors import ServerFailed
from crawlproject.frontier.redis import mail
from crawlproject.frontier.redis.connection import Server, answering
from crawlproject.frontier.redis.keys import CrawlKeys, clock_of
from crawlproject.frontier.redis.members import Members

AT_ONCE = 256  # entries of a stream that are fetched together
BURST = 10  # fetches that may begin at once after a pause, where their rate is limited

_ENDS = ("FENCED", "FORGOTTEN")  # the server's error codes that end this process

Command = tuple[Any, ...]
Id = tuple[int, int]  # of an entry of a stream


class HostVisit(NamedTuple):
    """A visit to ``places``: a host and, if known, its address. ``number`` counts the visits of this process."""

    number: int
    places: tuple[str, ...]


class Heard(NamedTuple):
    """The server's reply to a sign of life of this worker: its clock, and the state of all workers."""

    time: float
    was_known: bool
    members: Members
    reports: dict[str, bytes]
    pages_of_others: int
    lost: list[str]  # workers that joined once, are gone, and did not leave


@dataclass(slots=True)
class Step:
    """The requests of one step. Those that must reach other workers before a visit ends come first."""

    letters: list[tuple[str, bytes]] = field(default_factory=list)  # worker, group of letters; joined per worker
    messages: list[tuple[int, bytes]] = field(default_factory=list)
    attached: list[tuple[str, float, bytes]] = field(default_factory=list)
    ended: list[tuple[HostVisit, float]] = field(default_factory=list)  # with seconds of rest
    passed: list[tuple[str, float]] = field(default_factory=list)  # places visited without a registered visit
    begin: list[HostVisit] = field(default_factory=list)
    attachments_of: list[str] = field(default_factory=list)  # URLs
    reserve: tuple[int, int, int] | None = None  # pages: stored or being fetched, wanted besides, limit of all
    read_inbox: bool = True
    read_messages: bool = True
    applied: Id | None = None  # the inbox up to here is no longer needed
    beat: tuple[str, int, int, bytes] | None = None  # mode, pages: stored, stored or being fetched; report
    inbox_of: tuple[str, Id] | None = None  # a lost worker, and the entry after which to read its inbox


@dataclass(slots=True)
class Answer:
    """The replies. ``opens``: per visit, 0.0 if it has begun, else seconds until it may; infinity: another visit is under way.

    ``sent``: per worker, the entry of its inbox that holds the letters.
    """

    opens: list[float] = field(default_factory=list)
    attachments: list[bytes] = field(default_factory=list)
    granted: int | None = None
    sent: dict[str, Id] = field(default_factory=dict)
    inbox: list[tuple[Id, bytes, bytes]] = field(default_factory=list)  # sender, letters
    messages: list[bytes] = field(default_factory=list)
    heard: Heard | None = None
    inbox_of: list[tuple[Id, bytes, bytes]] = field(default_factory=list)


class Crew:
    """One worker's side of a crawl. ``kept``: how many messages the server keeps; 0: workers publish nothing.

    ``lease``: seconds that a worker, or a visit, may be silent. Methods raise what ``redis`` raises, and ``ServerFailed`` when
    another process took over the worker's name, or the server has forgotten the crawl.
    """

    def __init__(self, server: Server, crawl: str, worker: str, token: str, *, lease: float, kept: int) -> None:
        self.keys = CrawlKeys(crawl)
        self.worker = worker
        self.lease = lease
        self.kept = kept
        self._token = token
        self._server = server
        self._is_cluster = isinstance(server, RedisCluster)
        self._own = self.keys.inbox(worker)
        self._who = f"{crawl}/{worker}"
        self._visit = (self._who, token)
        self._read: Id = (0, 0)
        self._message: bytes = b"0-0"

    def close(self) -> None:
        self._server.close()

    # ------------------------------------------------------------ one step

    def take(self, step: Step) -> Answer:
        """Do the whole step. If it raises, a part may have been done: repeating the same step does no harm."""
        before = self._send(step)
        after: list[tuple[str, Command]] = [*self._ends(step), *self._begins(step)]
        if step.applied is not None:
            after.append(("trim", ("XTRIM", self._own, "MINID", _text((step.applied[0], step.applied[1] + 1)))))
        if step.read_inbox:
            start = f"({_text(self._read)}"
            after.append(("inbox", ("XRANGE", self._own, start, "+", "COUNT", AT_ONCE)))
        if step.read_messages and self.kept:
            after.append(("messages", ("XRANGE", self.keys.messages, b"(" + self._message, "+", "COUNT", AT_ONCE)))
        if step.inbox_of is not None:
            worker, read = step.inbox_of
            start = f"({_text(read)}"
            after.append(("inbox of", ("XRANGE", self.keys.inbox(worker), start, "+", "COUNT", AT_ONCE)))
        if step.beat is not None:
            after.append(("beat", self._beat(*step.beat)))
        answer = Answer()
        if self._is_cluster and before:  # the nodes of a cluster do not wait for each other
            self._read_answers(self._run([command for _, command in before]), before, step, answer)
            before = []
        asked = [*before, *after]
        if asked:
            self._read_answers(self._run([command for _, command in asked]), asked, step, answer)
        return answer

    def _send(self, step: Step) -> list[tuple[str, Command]]:
        asked: list[tuple[str, Command]] = []
        groups: dict[str, list[bytes]] = {}
        for worker, letters in step.letters:
            groups.setdefault(worker, []).append(letters)
        for worker, of_worker in groups.items():
            asked.append(("sent", ("XADD", self.keys.inbox(worker), "*", self.worker, mail.BETWEEN.join(of_worker))))
        if step.messages and self.kept:
            pairs = (part for message in step.messages for part in message)
            script = _script("publish", [self.keys.messages, self.keys.published], self.worker, self.kept, *pairs)
            asked.append(("", script))
        for url, number, message in step.attached:
            asked.append(("", _script("attach", [self.keys.attached], url, repr(number), message)))
        return asked

    def _ends(self, step: Step) -> Iterator[tuple[str, Command]]:
        for visit, rest in step.ended:
            for place in visit.places:
                yield "", self._visited(place, str(visit.number), rest)
        for place, rest in step.passed:
            yield "", self._visited(place, "", rest)
        if step.reserve is not None:
            own, wanted, most = step.reserve
            yield "reserve", _script("reserve", [self.keys.reserved], self.worker, own, wanted, most)

    def _begins(self, step: Step) -> Iterator[tuple[str, Command]]:
        patience = math.ceil(1000 * self.lease)
        for visit in step.begin:
            for place in visit.places:
                yield "begin", _script("visit", [clock_of(place)], *self._visit, visit.number, patience)
        for url in step.attachments_of:
            yield "attachment", ("HGET", self.keys.attached, url)

    def _visited(self, place: str, number: str, rest: float) -> Command:
        return _script("visited", [clock_of(place)], *self._visit, number, math.ceil(1000 * max(0.0, rest)))

    def _beat(self, mode: str, pages: int, reserved: int, report: bytes) -> Command:
        return _script("beat", self.keys.beat, self.worker, self._token, self.lease, mode, pages, reserved, report)

    def _read_answers(
        self, found: Sequence[Any], asked: Sequence[tuple[str, Command]], step: Step, answer: Answer
    ) -> None:
        begun: list[int] = []
        workers = iter(dict(step.letters))  # in the order in which their letters were sent
        for (what, _), value in zip(asked, found, strict=True):
            if what == "begin":
                begun.append(int(value))
            elif what == "sent":
                answer.sent[next(workers)] = _id(value)
            elif what == "reserve":
                answer.granted = int(value)
            elif what == "attachment":
                answer.attachments.append((value or b"").partition(b"\n")[2])
            elif what == "inbox":
                answer.inbox += _inbox(value)
            elif what == "inbox of":
                answer.inbox_of += _inbox(value)
            elif what == "messages":
                for entry, (worker, message) in _entries(value):
                    self._message = entry
                    if worker != self.worker.encode():
                        answer.messages.append(message)
            elif what == "beat":
                assert step.beat is not None
                answer.heard = _heard(value, step.beat[1])
        if answer.inbox:
            self._read = answer.inbox[-1][0]
        places = iter(begun)
        answer.opens += [_opens([next(places) for _ in visit.places]) for visit in step.begin] if begun else []

    # ------------------------------------------------------------ single requests

    def join(self, pages: int, report: bytes, *, is_new: bool = False) -> Heard:
        """Make this process the worker. ``is_new``: it has none of what others handed over to an earlier process of the name."""
        return _heard(self._run([self._beat("new" if is_new else "join", pages, pages, report)])[0], pages)

    def applied(self) -> Id:
        """The last entry of the inbox, if an earlier process has applied and trimmed all entries; else ``(0, 0)``."""
        try:
            inbox = self._server.xinfo_stream(self._own)
        except ResponseError:  # the inbox does not exist yet
            return (0, 0)
        return (0, 0) if inbox["length"] else _id(inbox["last-generated-id"])

    def begin(self, visit: HostVisit) -> float:
        """Begin one visit, and wait for the reply, which is as in ``Answer.opens``."""
        commands = [command for _, command in self._begins(Step(begin=[visit]))]
        opens = _opens([int(value) for value in self._run(commands)])
        if opens and len(visit.places) > 1:
            self._run([command for _, command in self._ends(Step(ended=[(visit, 0.0)]))])
        return opens

    def post(self, worker: str, letters: bytes) -> None:
        """Send letters to a worker at once."""
        self._run([("XADD", self.keys.inbox(worker), "*", self.worker, letters)])

    def pace(self, question: int, n: int, rate: float) -> int:
        """How many of ``n`` fetches may begin now, at ``rate`` a second for all workers; a negative ``n`` gives back -``n``."""
        asked = f"{self._token}/{question}"
        return int(self._run([_script("pace", self.keys.pace, self.worker, asked, n, repr(rate), BURST)])[0])

    def published(self) -> int:
        """The number of this worker's last numbered message."""
        with answering():
            return int(self._server.hget(self.keys.published, self.worker) or 0)

    def kept_messages(self) -> Iterator[tuple[bytes, bytes]]:
        """All messages that the server keeps, each after the name of its worker."""
        after = b"0-0"
        while True:
            with answering():
                found = list(_entries(self._server.xrange(self.keys.messages, b"(" + after, b"+", AT_ONCE)))
            if not found:
                return
            after = found[-1][0]
            yield from (pair for _, pair in found)

    def skip_messages(self) -> None:
        """Do not read the messages again that exist already."""
        with answering():
            newest = self._server.xrevrange(self.keys.messages, count=1)
        self._message = newest[0][0] if newest else b"0-0"

    def attached(self) -> Iterator[bytes]:
        """The messages that are attached to URLs."""
        with answering():
            for _, found in self._server.hscan_iter(self.keys.attached, count=1000):
                yield found.partition(b"\n")[2]

    # ------------------------------------------------------------ inside

    def _run(self, commands: Iterable[Command]) -> list[Any]:
        """Run the commands in one round trip; in a cluster, in one to each node."""
        asked = list(commands)
        for _ in range(2):
            pipeline = self._server.pipeline(**({} if self._is_cluster else {"transaction": False}))
            for command in asked:
                pipeline.execute_command(*self._spelled(command))
            found = pipeline.execute(raise_on_error=False)
            failures = [each for each in found if isinstance(each, Exception)]
            if not failures:
                return list(found)
            if not any(isinstance(failure, NoScriptError) for failure in failures):
                break
            for name in _SCRIPTS:  # the server was restarted since
                self._server.script_load(_source(name)[0])
        failure = failures[0]
        code, _, message = str(failure).partition(" ")
        if isinstance(failure, ResponseError) and code in _ENDS:
            raise ServerFailed(message) from failure
        raise failure

    def _spelled(self, command: Command) -> Command:
        if command[0] != "script":
            return command
        _, name, keys, *arguments = command
        source, sha = _source(name)
        call = ("EVAL", source) if self._is_cluster else ("EVALSHA", sha)
        return (*call, len(keys), *keys, *arguments)


_SCRIPTS = ("beat", "reserve", "visit", "visited", "publish", "attach", "pace")


def _script(name: str, keys: Sequence[str], *arguments: Any) -> Command:
    return ("script", name, keys, *arguments)


@cache
def _source(name: str) -> tuple[str, str]:
    source = files(__package__).joinpath("lua", f"{name}.lua").read_text(encoding="utf-8")
    return source, hashlib.sha1(source.encode(), usedforsecurity=False).hexdigest()


def _opens(places: Sequence[int]) -> float:
    """Seconds until all places of a visit may be visited; 0.0 if it has begun; infinity if one is being visited."""
    if any(place < 0 for place in places):
        return math.inf
    return max(places, default=0) / 1000


def _entries(found: Any) -> Iterator[tuple[bytes, tuple[bytes, bytes]]]:
    """The entries of a stream, each of which has one field."""
    for entry, fields in found or ():
        pair = next(iter(fields.items())) if isinstance(fields, dict) else (fields[0], fields[1])
        yield entry, pair


def _inbox(found: Any) -> Iterator[tuple[Id, bytes, bytes]]:
    return ((_id(entry), sender, letters) for entry, (sender, letters) in _entries(found))


def _id(entry: bytes) -> Id:
    milliseconds, _, number = entry.partition(b"-")
    return int(milliseconds), int(number)


def _text(entry: Id) -> str:
    return f"{entry[0]}-{entry[1]}"


def _heard(found: Sequence[Any], own_pages: int) -> Heard:
    seconds, microseconds, epoch, was_known, members, reports, pages, lost = found
    joined = {name.decode(): int(at) for name, at in _pairs(members)}
    told = {name.decode(): report for name, report in _pairs(reports)}
    at = float(seconds) + float(microseconds) / 1e6
    names = [name.decode() for name in lost]
    return Heard(at, bool(was_known), Members(int(epoch), joined), told, int(pages) - own_pages, names)


def _pairs(found: Sequence[Any]) -> Iterator[tuple[Any, Any]]:
    return zip(found[::2], found[1::2], strict=True)
