"""What workers write to each other about URLs: letters to the owners of hosts, and the handling of letters received."""

from __future__ import annotations

import logging
from collections.abc import Callable, Container, Sequence
from dataclasses import replace
from math import isfinite
from typing import Any

from crawlproject.errors import BadCrawlDir
from crawlproject.frontier.changes import Waits, from_json, json_number, to_json
from crawlproject.frontier.checks import refuse_nan
from crawlproject.frontier.core import FrontierCore
from crawlproject.frontier.disk.frontier import DiskFrontier
from crawlproject.frontier.host_queue import queue_of
from crawlproject.frontier.redis import mail
from crawlproject.frontier.redis.crew import Id
from crawlproject.frontier.redis.handover import Handover
from crawlproject.frontier.redis.mail import Letter
from crawlproject.frontier.redis.members import Shares
from crawlproject.frontier.redis.steps import Steps
from crawlproject.frontier.shared import DONE, FULL, GONE, HOST_FULL, KNOWN
from crawlproject.records import ACTIVE, PAGE, CrawlUrl

logger = logging.getLogger(__name__)

REMEMBERED = 200_000  # URLs of others' hosts, or found by others

_TOLD = 0.1  # of the score sent last: a smaller difference is not sent to the owner of a URL

_CHANGES = (mail.SCORE, mail.HOLD, mail.CLASS)  # a later one undoes an earlier one

_OF_NO_EPOCH = -1  # for letters that may not have reached the owner of their hosts

_UNREADABLE = (ValueError, TypeError, KeyError, IndexError, AttributeError)

Answers = dict[tuple[str, int], list[list[Any]]]  # (worker, reason) -> URLs and their scores


class Correspondence:
    """The letters of the worker ``name``. ``own`` holds the URLs of its hosts, at most ``max_urls_per_host`` of each (0: no
    limit). ``held`` are the URLs being fetched.

    ``rejected`` is called with URLs that their owners rejected. ``offset``: seconds by which the server's clock is ahead.
    """

    def __init__(
        self,
        name: str,
        own: FrontierCore,
        shares: Shares,
        handover: Handover,
        steps: Steps,
        held: Container[str],
        max_urls_per_host: int,
    ) -> None:
        self._name = name
        self._own = own
        self._shares = shares
        self._handover = handover
        self._steps = steps
        self._held = held
        self._max_urls_per_host = max_urls_per_host
        self.rejected: Callable[[CrawlUrl, int], None] = lambda url, why: None
        self.offset = 0.0
        self.sent: dict[str, float] = {}  # URLs of others' hosts -> the best score that was sent
        self._finders: dict[str, str] = {}  # own URLs -> the worker that found them first
        self._of_lost: dict[str, None] = {}  # URLs that this worker knows only from the inbox of a lost one
        self._warned = False

    # ------------------------------------------------------------ out

    def send(self, url: CrawlUrl) -> bool:
        """Send a URL of another worker's host to its owner. Return whether it is new here."""
        refuse_nan(url.key, url.score)
        best = self.sent.get(url.key)
        if best is None or url.score > best or url.inherited:
            _remember(self.sent, url.key, url.score)
            self._steps.post(self._shares.owner_of(url.url), self._letter(url))
        return best is None

    def rescore(self, url: str, score: float) -> bool:
        """Send a new score to the owner of a URL, if it differs from the one sent last by more than a tenth."""
        refuse_nan(url, score)
        told = self.sent.get(url)
        if told is None or not abs(score - told) <= _TOLD * abs(told):
            _remember(self.sent, url, score)
            self._steps.post(self._shares.owner_of(url), [mail.SCORE, url, json_number(score)])
        return True

    def hold(self, url: str, until: float) -> None:
        """Tell the owner of a URL not to take it before ``until``."""
        self._steps.post(self._shares.owner_of(url), [mail.HOLD, url, until and until + self.offset])

    def write(self, kind: str, url: str, *values: Any) -> None:
        """Send the owner of a URL any other letter."""
        self._steps.post(self._shares.owner_of(url), [kind, url, *values])

    def give(self, key: str, is_done: bool) -> None:
        """Send a URL to the owner of its host. A URL that is being fetched is sent when its lease ends."""
        if is_done:
            self.write(mail.DONE, key)
        elif (record := self._own.record(key)) is not None:
            self._steps.post(self._shares.owner_of(key), self._letter(record))
            self._own.drop(key)
            self._own.forget(key)

    def note(self, url: str) -> None:
        """Note that a URL of another worker's host is known."""
        _remember(self.sent, url, float("inf"))

    def forget_sent(self) -> None:
        """Hosts changed hands: forget the sent URLs that now belong here or to the heir of a lost worker, who may lack them."""
        was_lost = self._handover.was_lost
        for url in [url for url in self.sent if self._shares.has(url) or was_lost(queue_of(url))]:
            del self.sent[url]

    def readdress(self) -> None:
        """Redirect letters that wait for a worker that is gone to the present owners of the hosts."""
        joined = self._shares.members.joined
        answers: Answers = {}
        with self._steps.step():
            for worker, letters in self._steps.outbox.waiting():
                about_urls = [letter for letter in letters if letter[0] not in (mail.ANSWER, mail.HANDED)]
                if worker not in joined and about_urls:
                    self._read_group(self._name.encode(), mail.dump(about_urls, _OF_NO_EPOCH), answers)
            self._answer(answers)

    def was_found_by_another(self, key: str) -> bool:
        """Whether an own URL arrived in a letter."""
        return key in self._finders

    # ------------------------------------------------------------ in

    def read(self, inbox: Sequence[tuple[Id, bytes, bytes]], *, is_of_lost: bool = False) -> None:
        """Apply letters, in one step; of those to a lost worker, only the letters about hosts that are now this worker's.

        Inboxes of lost workers are read again after each change of members. So a change in one applies only to a URL that this
        reading brought: of any other URL, this worker may have been told something newer. A letter that cannot be read is
        skipped; the first one is logged.
        """
        answers: Answers = {}
        with self._steps.step():
            for _, sender, groups in inbox:
                for group in groups.split(mail.BETWEEN):
                    self._read_group(sender, group, answers, is_of_lost=is_of_lost)
            self._answer(answers)

    def _answer(self, answers: Answers) -> None:
        for (worker, why), urls in answers.items():
            self._steps.post(worker, [mail.ANSWER, why, urls])

    def _read_group(self, sender: bytes, group: bytes, answers: Answers, *, is_of_lost: bool = False) -> None:
        try:
            epoch, letters = mail.load(group)
        except _UNREADABLE as damage:
            self._pass_over(sender, damage)
            return
        is_known = epoch == self._shares.members.epoch  # then they have reached the owner of their hosts
        for letter in letters:
            try:
                if is_of_lost and not self._is_inherited(letter):
                    continue
                if not is_of_lost and self._of_lost:
                    self._of_lost.pop(letter[1], None)
                self._read(sender.decode(), letter, answers, is_known)
            except BadCrawlDir:  # this worker's own files are damaged, whatever the letter says
                raise
            except _UNREADABLE as damage:
                self._pass_over(sender, damage)

    def _is_inherited(self, letter: Letter) -> bool:
        """Whether a letter to a lost worker is for this one."""
        kind, about = letter[:2]
        if kind in (mail.ANSWER, mail.HANDED) or not self._shares.has(about):
            return False  # for that worker only, or for another heir
        if kind in (mail.PAGE, mail.WAIT) and not self._own.state_of(about):
            _remember(self._of_lost, about, None)
        return kind not in _CHANGES or about in self._of_lost

    def all_of_lost_read(self) -> None:
        """Note that the inboxes of all lost workers have been read to their ends."""
        self._of_lost.clear()

    def _pass_over(self, sender: bytes, damage: Exception) -> None:
        if not self._warned:
            logger.warning(
                "Cannot read a message of the worker %s (%r): do all workers run the same version?",
                sender.decode(errors="replace"),
                damage,
            )
        self._warned = True

    def _read(self, sender: str, letter: Letter, answers: Answers, is_known: bool) -> None:
        kind, *rest = letter
        if kind == mail.HANDED:
            self._handover.hear(sender, int(rest[0]))
        elif kind == mail.ANSWER:
            why, urls = rest
            for key, score in urls:
                if why != KNOWN:
                    self.sent.pop(key, None)
                self.rejected(CrawlUrl(str(key), float(score)), int(why))
        elif kind == mail.DONE:
            for key in rest:
                self._is_done(str(key))
        elif not isinstance(rest[0], str):
            raise TypeError(f"expected a URL, not {rest[0]!r}")
        elif not is_known and (owner := self._shares.owner_of(rest[0])) != self._name:
            self._steps.post(owner, letter)  # the host has changed hands
        elif kind == mail.PAGE:
            key, score, depth, parent, anchor, context_score = rest
            self._receive(sender, CrawlUrl(key, float(score), depth, parent, anchor, context_score), answers)
        elif kind == mail.WAIT:
            change = from_json(letter)
            assert isinstance(change, Waits)
            self._receive(sender, change.record, answers)
        else:
            self._change(sender, kind, rest, answers)

    def _receive(self, sender: str, url: CrawlUrl, answers: Answers) -> None:
        """Take a URL of an own host that another worker found."""
        if url.not_before:
            url = replace(url, not_before=url.not_before - self.offset)
        key, own, why = url.key, self._own, 0
        state, most = own.state_of(key), self._max_urls_per_host
        if state == "done":
            why = DONE
        elif state:
            own.put(url)  # may raise its score
            why = KNOWN if sender not in (self._name, self._finders.get(key)) else 0
        elif most and isinstance(own, DiskFrontier) and own.urls_of_host(key) >= most:
            why = HOST_FULL
        elif own.put(url):
            if sender != self._name:  # it is the own name for a readdressed letter to a lost worker
                _remember(self._finders, key, sender)
        else:
            why = FULL
        if why:
            answers.setdefault((sender, why), []).append([key, json_number(url.score)])

    def _is_done(self, key: str) -> None:
        """A URL was fetched by the earlier owner of its host, or in passing."""
        owner = self._shares.owner_of(key)
        if owner != self._name:
            self._steps.post(owner, [mail.DONE, key])
        elif key not in self._held:
            self._own.drop(key)

    def _change(self, sender: str, kind: str, values: Sequence[Any], answers: Answers) -> None:
        """Apply a change to a URL of an own host that another worker sent. A URL that is being fetched stays as it is."""
        key, *rest = values
        if self._own.state_of(key) == "leased":
            return
        if kind == mail.SCORE:
            if not self._own.rescore(key, float(rest[0])):
                answers.setdefault((sender, GONE), []).append([key, rest[0]])
        elif kind == mail.HOLD:
            until = float(rest[0])
            self._own.hold(key, until and until - self.offset)
        elif kind == mail.CLASS:
            self._own.set_precedence(key, int(rest[0]))
        elif kind == mail.DROP:
            self._own.drop(key)

    def _letter(self, url: CrawlUrl) -> Letter:
        is_plain = url.kind == PAGE and url.precedence == ACTIVE and url.key == url.url
        if is_plain and not (url.not_before or url.request) and isfinite(url.score) and not url.inherited:
            return [mail.PAGE, url.url, url.score, url.depth, url.parent, url.anchor, url.context_score]
        if url.not_before:
            url = replace(url, not_before=url.not_before + self.offset)
        return to_json(Waits(url))


def _remember(what: dict[str, Any], key: str, value: Any) -> None:
    what[key] = value
    if len(what) > REMEMBERED:
        del what[next(iter(what))]
