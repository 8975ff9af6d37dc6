"""The frontier of one worker of several: its own hosts in a frontier of its own, the rest of the crawl behind Redis.

How a URL travels:

1. A worker finds it. If its host is the worker's own (``members.py``), it enters the worker's frontier, as in a crawl of one process.
2. Else it leaves in a letter (``mail.py``) for the owner of the host, which puts it into its frontier, or answers that it knows it.
3. The frontier gives a URL, a *candidate*. Redis is asked for the visit: nobody else may be visiting the host, or its address,
   nor any other crawl in this Redis. With the answer come the letters that were sent before: what these ended is not fetched.
4. The URL is fetched. What its page leads to is on disk, in this frontier or in the outbox, when its lease ends; what is for others is
   with Redis before the visit ends there, and the host rests.

So Redis keeps who is there, who visits whom, and what is on its way, and no URL that waits.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from itertools import count
from math import inf
from pathlib import Path
from typing import Any

from redis.exceptions import RedisError

from crawlproject.errors import ServerFailed
from crawlproject.frontier.base import BlockedHost, UrlState
from crawlproject.frontier.changes import Waits, from_json, json_number, to_json
from crawlproject.frontier.core import FrontierCore
from crawlproject.frontier.disk.frontier import DiskFrontier
from crawlproject.frontier.host_queue import queue_of
from crawlproject.frontier.redis import mail
from crawlproject.frontier.redis.crew import Crew, Heard, Id, Visit
from crawlproject.frontier.redis.exchange import DENIED, Arrival, Candidate, Exchange, Work
from crawlproject.frontier.redis.handover import Handover
from crawlproject.frontier.redis.mail import Letter, Outbox
from crawlproject.frontier.redis.members import Shares
from crawlproject.frontier.redis.report import Report, is_over
from crawlproject.frontier.shared import DONE, FULL, GONE, HOST_FULL, KNOWN, CallerLoop
from crawlproject.records import REVISIT, CrawlUrl
from crawlproject.storage.append_log import write_atomically

EPOCH = "epoch"  # the file with the last change of the members for which everything was handed over
REMEMBERED = 200_000  # URLs of others' hosts, or found by others
BUSY_LOOK = 0.25  # seconds until a host is looked at again that somebody else visits

_PATIENCE = 30.0  # seconds that ``close`` waits for a server that is away


class RedisWorker:
    """A ``SharedFrontier`` around ``own``, which keeps the URLs of this worker's hosts. Not thread-safe: it is used from one
    thread, and keeps one of its own.

    ``folder`` keeps the outbox, beside the files of ``own`` (None: in memory). ``max_pages`` of all workers, and
    ``max_urls_per_host``: 0 for no limit.
    """

    def __init__(
        self,
        own: FrontierCore,
        crew: Crew,
        heard: Heard,
        *,
        clock: Callable[[], float],
        folder: Path | None = None,
        max_pages: int = 0,
        max_urls_per_host: int = 0,
    ) -> None:
        self._own = own
        self._crew = crew
        self._name = crew.worker
        self._clock = clock
        self._folder = folder
        self._max_pages = max_pages
        self._max_urls_per_host = max_urls_per_host
        self._shares = Shares(crew.worker)
        self._handover = Handover(crew.worker, self._shares, own, _read_epoch(folder))
        self._outbox = Outbox(folder)
        self.was_forgotten = not heard.was_known  # the server knows nothing of this worker
        self._offset = heard.time - clock()  # of the server's clock
        self._exchange: Exchange | None = None
        self._limit = 0
        self._visits: dict[str, Visit] = {}  # of URLs that were taken, or arrived
        self._asked: dict[str, Candidate] = {}
        self._arrived: deque[CrawlUrl] = deque()
        self._held: dict[str, CrawlUrl] = {}
        self._numbers = count(1)
        self._by_scripts: dict[str, Visit] = {}  # host -> visit
        self._addresses: dict[str, str] = {}
        self._sent_scores: dict[str, float] = {}  # URLs of others' hosts -> the best score that was sent
        self._of_others: dict[str, str] = {}  # own URLs -> who found them first
        self._sent: dict[str, Id] = {}
        self._applied: Id = (0, 0)
        self._reports: dict[str, Report] = {}
        self._pages = 0  # of this worker
        self._pages_of_others = 0
        self._is_over = False
        self._no_pages_until = 0.0
        self._report = b""
        self._mode = "beat"
        self._receive: Callable[[Sequence[bytes]], None] | None = None
        self._rejected: Callable[[CrawlUrl, int], None] = lambda url, answer: None
        self._gathers = False  # a step is under way,
        self._after: list[Callable[[Work], None]] = []  # after which this is to be sent
        self._hear(heard)

        self.waiting = own.waiting
        self.finished = own.finished
        self.record_lines = own.record_lines
        self.forget = own.forget
        self.blocked: Callable[[], Iterator[BlockedHost]] = own.blocked
        self.crawl_delay = own.crawl_delay
        self.block_host = own.block_host
        self.set_floor = own.set_floor
        self.set_ceiling = own.set_ceiling
        self.set_host_precedence = own.set_host_precedence
        self.attached = crew.attached
        self.kept_messages = crew.kept_messages
        self.last_published = crew.published
        self.owner = self._shares.owner
        self.busiest = own.busiest

    # ------------------------------------------------------------ beginning and end

    def start(self, limit: int, loop: CallerLoop) -> None:
        self._limit = limit
        self._wake = loop.wake
        self._call_soon = loop.call_soon
        self._make_report()
        exchange = Exchange(
            self._crew,
            clock=self._clock,
            beat=lambda: (self._mode, self._pages, self._report),
            reserve=lambda: (self._pages + len(self._held) + len(self._arrived) + exchange.granted, self._max_pages),
            is_idle=lambda: not (self._held or self._asked or self._arrived),
            deliver=lambda arrival: self._call_soon(partial(self._settle, arrival)),
            failed=lambda failure: self._call_soon(partial(loop.failed, failure)),
            receives=self._receive is not None,
        )
        with exchange as work:
            work.letters.extend((worker, mail.dump(letters)) for worker, letters in self._outbox.waiting())
        self._exchange = exchange
        self._go_on_handing_over()
        exchange.start()

    def close(self) -> None:
        """Send what is left, and say that this worker is away. Raises ``StorageFailed`` when the server stays away."""
        self._receive = None  # nobody learns any more from what still arrives
        self._wake = lambda: None
        ended = True
        if self._exchange is not None:
            for url in list(self._visits):
                self._end_visit(url, 0.0)
            self._make_report(is_away=True)
            ended = self._exchange.close(_PATIENCE)
        self._crew.close()
        self._outbox.close()
        self._own.close()
        if not ended:
            raise ServerFailed("Redis was away at the end: what did not reach it is sent when this worker goes on")

    def leave(self) -> None:
        """Give all hosts away, to whoever is there; ``has_left`` when that is done."""
        self._mode = "drain"
        if self._exchange is not None:
            self._exchange.hurry()

    @property
    def has_left(self) -> bool:
        is_out = self._shares.members.joined.get(self._name, 0) < 0 and not self._handover.is_open
        return is_out and not (self._held or self._asked or self._arrived or self._outbox or len(self._own))

    # ------------------------------------------------------------ what is known

    def is_own(self, host: str) -> bool:
        """Whether this worker has the host."""
        return self._shares.is_own(host)

    def workers(self) -> list[str]:
        """All workers of the crawl."""
        return list(self._shares.members.joined)

    def __len__(self) -> int:
        return len(self._own) + len(self._asked) + len(self._arrived) + sum(each.waiting for each in self._others())

    def __contains__(self, url: str) -> bool:
        if url in self._own:
            return True
        if self.is_own(queue_of(url)):
            return False
        # What pages of before linked to has left, unless the server has lost it.
        return url in self._sent_scores or (self._exchange is None and not self.was_forgotten)

    def leased(self, url: str) -> CrawlUrl | None:
        return self._held.get(url)

    def leases(self) -> int:
        """Of this worker."""
        return len(self._held)

    def best(self) -> float | None:
        scores = [self._own.best(), *(report.best for report in self._others())]
        return max((score for score in scores if score is not None), default=None)

    def hosts(self) -> int:
        return self._own.hosts() + sum(report.hosts for report in self._others())

    def evicted(self) -> int:
        return self._own.evicted() + sum(report.evicted for report in self._others())

    def urls_of_host(self, url: str) -> int:
        """As ``CountingFrontier`` says, of own hosts."""
        return self._own.urls_of_host(url) if isinstance(self._own, DiskFrontier) else 0

    @property
    def history_lines(self) -> int:
        return self._own.history_lines

    def state_of(self, url: str) -> UrlState:
        return self._own.state_of(url) or ("waiting" if url in self else "")

    def states(self, urls: Iterable[str]) -> Mapping[str, UrlState]:
        return {url: self.state_of(url) for url in urls}

    def pages(self) -> int:
        return self._pages + self._pages_of_others

    def pending(self) -> bool:
        if self._exchange is None:
            return len(self) > 0
        return bool(self._held or self._asked or self._arrived or self._outbox or len(self._own)) or not self._is_over

    def next_due(self, now: float) -> float | None:
        if self._exchange is not None:
            if self._handover.is_open or self._asked or self._arrived or len(self._held) >= self._limit:
                return None  # whoever takes is woken
        due = self._own.next_due(now)
        return due if due is None else max(due, self._no_pages_until)

    def last_due(self) -> float | None:
        if self._held or self._asked or self._arrived:
            return 0.0
        return self._own.next_due(self._clock())

    def _others(self) -> Iterator[Report]:
        return (report for name, report in self._reports.items() if name != self._name and not report.is_away)

    # ------------------------------------------------------------ URLs come and change

    def put(self, url: CrawlUrl) -> bool:
        with self._step():
            return self._put(url)

    def put_many(self, urls: Iterable[CrawlUrl]) -> int:
        with self._step():
            return sum(map(self._put, urls))

    def _put(self, url: CrawlUrl) -> bool:
        owner, key = self.owner(queue_of(url.url)), url.key
        if owner == self._name:
            is_new = self._own.put(url)
            if not is_new and key in self._of_others:
                self._rejected(url, KNOWN)
            return is_new
        if url.score != url.score:
            raise ValueError(f"cannot queue score {url.score!r}: {key!r}")
        best = self._sent_scores.get(key)
        if best is None or url.score > best or url.inherited:
            _remember(self._sent_scores, key, url.score)
            self._post(owner, self._letter(url))
        return best is None

    def rescore(self, url: str, score: float) -> bool:
        owner = self.owner(queue_of(url))
        if owner == self._name:
            return self._own.rescore(url, score)
        if score != score:
            raise ValueError(f"a score must be a number, got {score!r}: {url!r}")
        self._sent_scores[url] = score
        self._post_now(owner, [mail.SCORE, url, json_number(score)])
        return True

    def hold(self, url: str, until: float) -> bool:
        if url in self._asked or (url in self._visits and url not in self._held):
            return True  # on its way to whoever takes, and asked then whether it has to wait
        if url in self._held:
            self._own.hold(url, until)
            return self._ended(url, 0.0)
        if self._own.hold(url, until):
            return True
        return self._tell_owner(url, [mail.HOLD, url, until and until + self._offset])

    def set_precedence(self, url: str, precedence: int) -> bool:
        if url in self._asked or (url in self._visits and url not in self._held):
            return True
        if url in self._held:
            self._own.set_precedence(url, precedence)
            return self._ended(url, 0.0)
        if self._own.set_precedence(url, precedence):
            return True
        return self._tell_owner(url, [mail.CLASS, url, precedence])

    def drop(self, url: str, *, picked: bool = False) -> None:
        if not self._own.state_of(url) and self._tell_owner(url, [mail.DROP, url]):
            return
        self._own.drop(url, picked=picked)
        if url in self._held:
            self._ended(url, 0.0)

    def fetch_again(self, url: CrawlUrl, *, counted: bool) -> bool:
        if self._own.state_of(url.key) != "done":
            return False
        self._own.forget(url.key)
        self.put(url)
        return True

    def _tell_owner(self, url: str, letter: Letter) -> bool:
        owner = self.owner(queue_of(url))
        if owner != self._name:
            self._post_now(owner, letter)
        return owner != self._name

    # ------------------------------------------------------------ leases

    def take(self, now: float) -> CrawlUrl | None:
        while self._arrived:
            url = self._arrived.popleft()
            if self._own.leased(url.key) is not None:
                self._held[url.key] = url
                return url
            self._end_visit(url.key, 0.0)
        if self._exchange is None:
            return self._take_waiting(now)
        if not self._handover.is_open and now >= self._no_pages_until:
            self._ask(now)
        return None

    def _ask(self, now: float) -> None:
        """Ask for the visits of the next URLs."""
        assert self._exchange is not None
        asked = []
        while len(self._held) + len(self._asked) < self._limit and (url := self._own.take(now)) is not None:
            candidate = Candidate(url.key, self._new_visit(url.url), url.kind == REVISIT)
            self._asked[url.key] = candidate
            asked.append(candidate)
        if asked:
            with self._exchange as work:
                work.candidates.extend(asked)

    def _take_waiting(self, now: float) -> CrawlUrl | None:
        """The next URL, before ``start``: this waits for the server."""
        while (url := self._own.take(now)) is not None:
            visit = self._new_visit(url.url)
            opens = self._crew.begin(visit)
            if not opens:
                self._visits[url.key] = visit
                self._held[url.key] = url
                return url
            self._refuse(url, now, opens)
        return None

    def _refuse(self, url: CrawlUrl, now: float, opens: float) -> None:
        """Its host may not be visited yet."""
        self._own.hold(url.key, url.not_before)
        self._own.rest_host(queue_of(url.url), now + (BUSY_LOOK if opens == inf else opens))

    def done(
        self, url: str, now: float, seconds: float, refetch_at: float | None = None, score: float | None = None
    ) -> None:
        host = queue_of(url)
        rest, state = self._own.next_visit(host, now, seconds) - now, self._own.state_of(url)
        if not state and not self.is_own(host):
            self._tell_owner(url, [mail.DONE, url])
            self._passed(host, rest)
            return
        self._own.done(url, now, seconds, refetch_at, score)
        if url in self._held:
            self._ended(url, rest)
        elif state != "done":
            self._passed(host, rest)

    def release(self, url: str, now: float, seconds: float, *, not_before: float = 0.0, picked: bool = True) -> None:
        if url in self._held:
            rest = self._own.next_visit(queue_of(url), now, seconds) - now
            self._own.release(url, now, seconds, not_before=not_before, picked=picked)
            self._ended(url, rest)

    def _ended(self, url: str, rest: float) -> bool:
        """The lease of a URL has ended. Its host may be another's by now."""
        self._held.pop(url, None)
        self._end_visit(url, rest)
        if not self.is_own(queue_of(url)):
            with self._step():
                self._give(url, self._own.state_of(url) == "done")
        return True

    def _end_visit(self, url: str, rest: float) -> None:
        visit = self._visits.pop(url, None)
        if visit is not None:
            self._when_written(lambda work: work.ended.append((visit, rest)))

    def _passed(self, host: str, rest: float) -> None:
        """A host was visited without a visit that Redis knows of."""
        if rest > 0:
            self._when_written(lambda work: work.passed.append((host, rest)))

    def count_page(self, url: str) -> None:
        self._pages += 1

    def has_pages(self, pages: int) -> None:
        """So many pages are stored by this worker."""
        self._pages = pages

    # ------------------------------------------------------------ visits

    def _new_visit(self, url: str) -> Visit:
        host = queue_of(url)
        address = self._addresses.get(host)
        return Visit(next(self._numbers), (host, f"@{address}") if address else (host,))

    def host_address(self, host: str, address: str) -> bool:
        """As the contract says. Of the hosts of others only those are known that were visited when this one was asked for."""
        if self._addresses.get(host, "") != address:
            _remember(self._addresses, host, address)
            for url, visit in self._visits.items():
                if visit.places[0] == host:
                    self._visits[url] = moved = Visit(visit.number, (host, f"@{address}") if address else (host,))
                    self._when_written(partial(_move, visit._replace(places=visit.places[1:]), moved))
        return self._own.host_address(host, address)

    def visit(self, host: str, now: float, beside: str = "") -> float:
        """As the contract says. This waits for the answer, so it is called from a thread; infinity while Redis is away."""
        address = self._addresses.get(host)
        if beside and (host == beside or (address and address == self._addresses.get(beside))):
            return now
        visit = self._new_visit(f"http://{host}/")
        try:
            opens = self._crew.begin(visit)
        except RedisError:
            return inf
        if not opens:
            self._by_scripts[host] = visit
        return now + opens

    def visited(self, host: str, now: float, seconds: float) -> None:
        until = self._own.next_visit(host, now, seconds)
        self._own.rest_host(host, until)
        visit = self._by_scripts.pop(host, None)
        if visit is not None:
            self._when_written(lambda work: work.ended.append((visit, until - now)))

    # ------------------------------------------------------------ messages

    @property
    def shares(self) -> bool:
        return self._crew.kept > 0

    def publish(self, url: str, message: bytes, number: int = 0) -> None:
        self._when_written(lambda work: work.messages.append((number, message)))

    def attach(self, url: str, message: bytes, number: float) -> None:
        if not number < inf:
            raise ValueError(f"the number of a message must be finite, got {number!r}: {url!r}")
        self._when_written(lambda work: work.attached.append((url, float(number), message)))

    def when_published(self, receive: Callable[[Sequence[bytes]], None]) -> None:
        self._receive = receive

    def catch_up(self) -> None:
        if self._receive is not None:
            for _, message in self._crew.kept_messages():
                self._receive([message])
            self._crew.skip_messages()

    def set_pace(self, rate: float) -> None:
        if self._exchange is not None:
            self._exchange.rate = rate

    def note(self, url: str) -> None:
        if not self.is_own(queue_of(url)):
            _remember(self._sent_scores, url, inf)

    def when_rejected(self, rejected: Callable[[CrawlUrl, int], None]) -> None:
        self._rejected = rejected

    # ------------------------------------------------------------ steps

    @contextmanager
    def batch(self) -> Iterator[None]:
        """What happens inside is one step, of this frontier and the outbox."""
        with self._step():
            yield

    @contextmanager
    def _step(self) -> Iterator[None]:
        if self._gathers:
            yield
            return
        self._gathers, self._after = True, []
        try:
            with self._own.batch():
                try:
                    yield
                finally:
                    letters = self._outbox.commit()  # before the frontier takes for done what they came of
        finally:
            self._gathers = False
            self._send(letters, self._after)

    def _when_written(self, change: Callable[[Work], None]) -> None:
        """Change what waits for the next step of the exchange, when the step under way is on disk."""
        if self._gathers:
            self._after.append(change)
        else:
            self._send([], [change])

    def _send(self, letters: list[tuple[str, list[Letter]]], changes: list[Callable[[Work], None]]) -> None:
        if self._exchange is None:  # letters wait for it; whoever waits for the server tells it the rest at once
            work = Work()
            for change in changes:
                change(work)
            if changes:
                self._crew.take(work.step())
            return
        if letters or changes:
            with self._exchange as work:
                work.letters.extend((worker, mail.dump(some)) for worker, some in letters)
                for change in changes:
                    change(work)

    def _post(self, worker: str, letter: Letter) -> None:
        """In a step."""
        self._outbox.add(worker, letter)

    def _post_now(self, worker: str, letter: Letter) -> None:
        with self._step():
            self._outbox.add(worker, letter)

    def _letter(self, url: CrawlUrl, kind: str = mail.WAIT) -> Letter:
        if url.not_before:
            url = replace(url, not_before=url.not_before + self._offset)
        return [kind, *to_json(Waits(url))[1:]]

    # ------------------------------------------------------------ what arrives

    def _settle(self, arrival: Arrival) -> None:
        answer = arrival.answer
        if arrival.letters_sent:
            self._outbox.arrived(len(arrival.letters_sent))
            self._sent.update(arrival.letters_sent)
        was_open, brought, pages = self._handover.is_open, False, self._pages_of_others
        if answer.heard is not None:
            self._offset = answer.heard.time - arrival.at
            self._hear(answer.heard)
        if answer.inbox:
            brought = self._read(answer.inbox)
        if self._receive is not None and (messages := [*answer.messages, *arrival.attached]):
            self._receive(messages)  # before anybody can take what it is about
        with self._step():
            granted = self._grant(arrival)
        was_over = self._is_over
        if answer.heard is not None:
            self._is_over = self._look_whether_over()
        self._make_report()
        closed = was_open and not self._handover.is_open
        is_news = self._is_over != was_over or self._pages_of_others != pages
        if granted or brought or closed or is_news or arrival.candidates:
            self._wake()

    def _read(self, inbox: Sequence[tuple[Id, bytes, bytes]]) -> bool:
        """Do what letters say, in one step of the frontier; then they are not needed any more."""
        answers: dict[tuple[str, int], list[list[Any]]] = {}
        with self._step():
            for _, sender, content in inbox:
                try:
                    letters = mail.load(content)
                    for letter in letters:
                        self._do(sender.decode(), letter, answers)
                except (ValueError, TypeError, KeyError, IndexError):
                    continue  # of another version, or of nobody that knows what we send
            for (worker, why), urls in answers.items():
                self._post(worker, [mail.ANSWER, why, urls])
        self._applied = inbox[-1][0]
        assert self._exchange is not None
        with self._exchange as work:
            work.applied = self._applied
        return True

    def _do(self, sender: str, letter: Letter, answers: dict[tuple[str, int], list[list[Any]]]) -> None:
        kind, *rest = letter
        if kind == mail.HANDED:
            self._handover.hear(sender, int(rest[0]))
        elif kind == mail.ANSWER:
            why, urls = rest
            for key, score in urls:
                if why != KNOWN:
                    self._sent_scores.pop(key, None)
                self._rejected(CrawlUrl(str(key), float(score)), int(why))
        elif kind in (mail.WAIT, mail.AGAIN):
            change = from_json([mail.WAIT, *rest])
            assert isinstance(change, Waits)
            url = change.record
            if url.not_before:
                url = replace(url, not_before=url.not_before - self._offset)
            owner = self.owner(queue_of(url.url))
            if owner != self._name:
                self._post(owner, letter)
            elif (why := self._receive_url(sender, url, again=kind == mail.AGAIN)) is not None:
                answers.setdefault((sender, why), []).append([url.key, json_number(url.score)])
        elif kind == mail.DONE:
            for key in rest:
                self._is_done(str(key))
        else:
            self._change(sender, letter, answers)

    def _receive_url(self, sender: str, url: CrawlUrl, *, again: bool) -> int | None:
        """A URL of an own host was found by another worker; the answer, if it gets one."""
        key, own = url.key, self._own
        state = own.state_of(key)
        if state == "done":
            if not again:
                return DONE
            own.forget(key)
        elif state:
            own.put(url)  # may raise its score
            return None if self._of_others.get(key) == sender else KNOWN
        most = self._max_urls_per_host
        if most and self.urls_of_host(key) >= most:
            return HOST_FULL
        if not own.put(url):
            return FULL
        _remember(self._of_others, key, sender)
        return None

    def _is_done(self, key: str) -> None:
        """A URL was fetched by whoever had its host, or in passing."""
        owner = self.owner(queue_of(key))
        if owner != self._name:
            self._post(owner, [mail.DONE, key])
        elif key not in self._held:
            self._own.drop(key)

    def _change(self, sender: str, letter: Letter, answers: dict[tuple[str, int], list[list[Any]]]) -> None:
        """What another worker has learned of a URL of an own host."""
        kind, key, *values = letter
        owner = self.owner(queue_of(key))
        if owner != self._name:
            self._post(owner, letter)
        elif self._own.state_of(key) == "leased":
            return
        elif kind == mail.SCORE:
            score = float(values[0])
            if not self._own.rescore(key, score):
                answers.setdefault((sender, GONE), []).append([key, json_number(score)])
        elif kind == mail.HOLD:
            until = float(values[0])
            self._own.hold(key, until and until - self._offset)
        elif kind == mail.CLASS:
            self._own.set_precedence(key, int(values[0]))
        elif kind == mail.DROP:
            self._own.drop(key)

    def _grant(self, arrival: Arrival) -> bool:
        """The candidates whose visits have begun may be taken, the others wait on."""
        granted, begun, now = False, 0, self._clock()
        for candidate, opens in arrival.candidates:
            self._asked.pop(candidate.url, None)
            url = self._own.leased(candidate.url)
            if not opens:
                self._visits[candidate.url] = candidate.visit
                begun += 1
            if url is None:
                self._end_visit(candidate.url, 0.0)  # a letter has ended it
            elif not opens and not self._handover.is_open:
                self._arrived.append(url)
                granted = True
            elif not opens:
                self._own.hold(url.key, url.not_before)
                self._end_visit(url.key, 0.0)
            elif opens == DENIED:
                self._no_pages_until = now + BUSY_LOOK
                self._own.hold(url.key, url.not_before)
            else:
                self._refuse(url, now, opens)
        if begun:
            assert self._exchange is not None
            with self._exchange:
                self._exchange.granted -= begun
        return granted

    # ------------------------------------------------------------ the other workers

    def _hear(self, heard: Heard) -> None:
        for name, content in heard.reports.items():
            with suppress(ValueError, TypeError):  # of another version
                self._reports[name] = Report.load(content)
        for name in self._reports.keys() - heard.members.joined.keys():
            del self._reports[name]
        self._pages_of_others = heard.pages_of_others
        if self._handover.meet(heard.members) and self._exchange is not None:
            self._go_on_handing_over()

    def _go_on_handing_over(self) -> None:
        with self._step():
            is_complete = self._handover.hand_over(self._give)
            if is_complete:
                for worker in self._shares.others():
                    self._post(worker, [mail.HANDED, self._handover.epoch])
        if is_complete:
            _write_epoch(self._folder, self._handover.epoch)
            self._wake()
        elif self._handover.is_scanning:
            self._call_soon(self._go_on_handing_over)

    def _give(self, key: str, is_done: bool) -> None:
        """A URL goes to the owner of its host. One that is being fetched goes when its lease ends."""
        owner = self.owner(queue_of(key))
        if is_done:
            self._post(owner, [mail.DONE, key])
        elif (record := self._own.record(key)) is not None:
            self._post(owner, self._letter(record))
            self._own.drop(key)
            self._own.forget(key)

    def _look_whether_over(self) -> bool:
        if self._held or self._asked or self._arrived or self._outbox or len(self._own) or self._handover.is_open:
            return False
        return is_over({**self._reports, self._name: self._own_report()})

    def _own_report(self, *, is_away: bool = False) -> Report:
        own = self._own
        waiting = len(own) + (1 if self._handover.is_open else 0)
        leases = len(self._held) + len(self._asked) + len(self._arrived)
        return Report(
            waiting,
            leases,
            own.hosts(),
            own.evicted(),
            own.best(),
            len(self._outbox),
            self._applied,
            dict(self._sent),
            is_away,
        )

    def _make_report(self, *, is_away: bool = False) -> None:
        self._report = self._own_report(is_away=is_away).dump()


def _move(left: Visit, visit: Visit, work: Work) -> None:
    """The host of a visit is at another address, or at none."""
    if left.places:
        work.ended.append((left, 0.0))
    if visit.places[1:]:
        work.visits.append(visit._replace(places=visit.places[1:]))


def _remember(what: dict[str, Any], key: str, value: Any) -> None:
    what[key] = value
    if len(what) > REMEMBERED:
        del what[next(iter(what))]


def _read_epoch(folder: Path | None) -> int:
    with suppress(OSError, ValueError):
        if folder is not None:
            return int((folder / EPOCH).read_text())
    return 0


def _write_epoch(folder: Path | None, epoch: int) -> None:
    if folder is not None:
        write_atomically(folder / EPOCH, [str(epoch).encode()], sync=False)
