"""The end of a crawl is detected, and never too early, in whatever order letters and reports arrive."""

from __future__ import annotations

from collections import deque
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlproject.frontier.k_rule import CLASSES
from crawlproject.frontier.redis.crew import Heard, Id
from crawlproject.frontier.redis.members import Members
from crawlproject.frontier.redis.report import Colleagues, Report, is_over
from crawlproject.records import ACTIVE, INACTIVE, SPARE


class Worker:
    """Has URLs, and finds a few more for itself or for others. Like the exchange, it reports its state at the last message;
    letters are sent and read one by one, and the server answers later.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.waiting = 0
        self.outbox: deque[str] = deque()  # the recipients
        self.applied: Id = (0, 0)
        self.sent: dict[str, Id] = {}
        self.unheard: deque[tuple[str, Id]] = deque()  # arrived, but not processed

    def report(self) -> Report:
        unsent = len(self.outbox) + len(self.unheard)
        return Report(waiting=self.waiting, unsent=unsent, applied=self.applied, sent=dict(self.sent))


class Exchange:
    """Workers, their inboxes, and the reports on the server."""

    def __init__(self, random: Random, number: int) -> None:
        self.random = random
        self.workers = {f"w{one}": Worker(f"w{one}") for one in range(number)}
        self.inboxes: dict[str, list[Id]] = {name: [] for name in self.workers}
        self.clock = 0
        self.reports: dict[str, Report] = {name: Report(waiting=1) for name in self.workers}
        self.drafts = {name: Report(waiting=1) for name in self.workers}  # made, but not sent
        self.left = random.randrange(40)  # URLs still to be found
        self.workers["w0"].waiting = 1 if self.left else 0

    def step(self) -> None:
        worker = self.workers[self.random.choice(list(self.workers))]
        self.random.choice([self.fetch, self.send, self.hear, self.read, self.draft, self.tell])(worker)

    def fetch(self, worker: Worker) -> None:
        if worker.waiting:
            worker.waiting -= 1
            for _ in range(min(self.left, self.random.choice([0, 1, 1, 3]))):
                self.left -= 1
                owner = self.random.choice(list(self.workers))
                if owner == worker.name:
                    worker.waiting += 1
                else:
                    worker.outbox.append(owner)

    def send(self, worker: Worker) -> None:
        if worker.outbox:
            self.clock += 1
            owner, entry = worker.outbox.popleft(), (self.clock // 3, self.clock % 3)
            self.inboxes[owner].append(entry)
            worker.unheard.append((owner, entry))

    def hear(self, worker: Worker) -> None:
        if worker.unheard:
            owner, entry = worker.unheard.popleft()
            worker.sent[owner] = entry

    def read(self, worker: Worker) -> None:
        news = [entry for entry in self.inboxes[worker.name] if entry > worker.applied]
        if news:
            count = self.random.randint(1, len(news))
            worker.waiting += count
            worker.applied = news[count - 1]

    def draft(self, worker: Worker) -> None:
        self.drafts[worker.name] = worker.report()

    def tell(self, worker: Worker) -> None:
        self.reports[worker.name] = self.drafts[worker.name]

    @property
    def is_quiet(self) -> bool:
        unread = any(entry > worker.applied for worker in self.workers.values() for entry in self.inboxes[worker.name])
        return not unread and not any(worker.waiting or worker.outbox for worker in self.workers.values())


@given(st.integers(0, 2**32), st.integers(1, 5))
def test_it_is_never_over_while_something_is_left_and_always_at_the_end(seed: int, number: int) -> None:
    exchange = Exchange(Random(seed), number)
    for _ in range(400):
        exchange.step()
        assert exchange.is_quiet or not is_over(exchange.reports)
    while not exchange.is_quiet:
        exchange.step()
        assert exchange.is_quiet or not is_over(exchange.reports)
    for worker in exchange.workers.values():
        while worker.unheard:
            exchange.hear(worker)
        exchange.draft(worker)
        exchange.tell(worker)
    assert is_over(exchange.reports)


@pytest.mark.parametrize(
    ("left", "over"),
    [
        (Report(), True),
        (Report(waiting=1), False),
        (Report(leases=1), False),
        (Report(unsent=1), False),
        (Report(sent={"b": (5, 0)}), True),
        (Report(sent={"b": (5, 1)}), False),
        (Report(sent={"gone": (9, 9)}), True),
        (Report(waiting=5, unsent=1, is_away=True), True),
    ],
)
def test_what_one_worker_has_left_is_left_for_all(left: Report, over: bool) -> None:
    assert is_over({"a": left, "b": Report(applied=(5, 0))}) is over


ids = st.tuples(st.integers(0, 2**50), st.integers(0, 2**30))
numbers = st.integers(0, 2**50)


@given(
    st.builds(
        Report,
        *[numbers] * 4,
        st.none() | st.sampled_from(CLASSES),
        numbers,
        ids,
        st.dictionaries(st.text(max_size=9), ids),
        st.booleans(),
    )
)
def test_a_report_is_read_as_it_was_written(report: Report) -> None:
    assert Report.load(report.dump()) == report


@pytest.mark.parametrize("content", [b"", b"3", b"[]", b"[1,2,3]", b"[0,0,0,0,null,0,[1],{},false]", b"{}"])
def test_what_is_no_report_is_refused(content: bytes) -> None:
    with pytest.raises((ValueError, TypeError, IndexError)):
        Report.load(content)


def test_nobody_waits_for_the_hosts_of_a_worker_that_is_away_or_silent() -> None:
    colleagues = Colleagues("me")

    def hear(at: float, **reports: Report) -> int | None:
        members = Members(1, dict.fromkeys(reports, 1))
        told = {name: report.dump() for name, report in reports.items()}
        colleagues.hear(Heard(at, True, members, told, 0, 0))
        return colleagues.lowest

    active, spare, inactive = (Report(waiting=1, lowest=precedence) for precedence in (ACTIVE, SPARE, INACTIVE))
    assert hear(0.0) is None
    assert hear(1.0, me=active, a=inactive, b=spare) == SPARE, "my own I know"
    assert hear(2.0, a=inactive, b=Report()) == INACTIVE
    assert hear(3.0, a=inactive, b=Report(lowest=ACTIVE, is_away=True)) == INACTIVE
    assert hear(4.0, a=inactive, b=active) == ACTIVE
    assert hear(10.5, a=inactive, b=active) == ACTIVE
    assert hear(14.5, a=spare, b=active) == SPARE, "b has said nothing new for ten seconds"
    assert hear(15.0, a=spare, b=Report(waiting=2, lowest=ACTIVE)) == ACTIVE
