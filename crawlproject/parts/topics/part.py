"""Several topics in one crawl: each page is judged for all topics, and each link is worth what it is worth to all together. The
part handles which topics join and leave, what each has found, and what the crawl learns from it.

topics/*.toml ─► join ─► judge, ordering, seeds ─► every page: relevance to each ─► history ─► topics/NAME/
                  └────► pages stored before: judged for the new topic in slices, while the crawl goes on
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from crawlproject.core.part import Choice, Part, Setup
from crawlproject.core.prior_knowledge import PriorKnowledge
from crawlproject.core.reading import topic_in_canonical_urls
from crawlproject.core.services import Handler, Services
from crawlproject.core.stopping import TOPICS_HAVE_ENOUGH
from crawlproject.errors import BadCrawlDir, BadSetting, BadTopic
from crawlproject.orderings.base import OrderingContext
from crawlproject.pages.text.printable import counted
from crawlproject.pages.text.relevance import TopicJudge, TopicsJudge, make_judge
from crawlproject.parts.topics.options import TopicsOptions
from crawlproject.parts.topics.orderings.fair_share import FairShare
from crawlproject.parts.topics.orderings.make import TopicsOrdering, make_topics_ordering
from crawlproject.parts.topics.topic_view import FOLDER, TopicView
from crawlproject.parts.topics.topics_log import JOINED, LEFT, TopicEvent, TopicsLog, TopicState, read_topics
from crawlproject.records import FetchEvent, Page, Topic, Visit
from crawlproject.topic.folder import refuse_conflicts, together

JUDGED_AT_THE_END = 200  # stored pages that are judged when a crawl is interrupted, which must end at once
LEFT_THE_CRAWL = "topic left"  # why the view of a topic ended


@dataclass(frozen=True, slots=True)
class TopicParts:
    """What a crawl makes of topics: ``canonical`` URLs, a ``judge`` from keywords, and the ``context`` of a topic."""

    canonical: Callable[[Topic], Topic]
    judge: Callable[[tuple[str, ...]], TopicJudge]
    context: Callable[[Topic, TopicJudge], OrderingContext]


class TopicsPart(Part):
    """Present where a topic has members; then it makes the judge and the ordering. Counts what each member has found."""

    name = "topics"
    _services: Services

    def __init__(
        self, topic: Topic, judge: TopicsJudge, ordering: TopicsOrdering, parts: TopicParts, relevant: float
    ) -> None:
        self.topic = topic
        self.found: Counter[str] = Counter()  # relevant pages of each topic, duplicates left out
        self._judge = judge
        self._ordering = ordering
        self._parts = parts
        self._relevant = relevant
        self._views: dict[str, TopicView] = {}
        self._log: TopicsLog | None = None
        self._keeps_pages = False
        self._replaying = True
        self._judged = 0  # stored pages, for topics that joined
        self._joined_now: set[str] = set()  # topics that joined while this process crawls

    @classmethod
    def make(cls, setup: Setup) -> TopicsPart | None:
        return None  # ``choose`` makes it

    @classmethod
    def choose(
        cls, topic: Topic, known: PriorKnowledge, folder: Path, canonicalize: Callable[..., str]
    ) -> Choice | None:
        """The judge and the ordering for the members of ``topic``, in canonical URLs; ``known`` judges by the keywords of all.

        Topics join in the order in which they first joined this crawl, new ones last.
        """
        options, whole = known.options, known.judge
        if options.frontier == "redis":
            wish = "needs FRONTIER memory or disk: the workers of a Redis frontier do not share what topics learn"
            raise BadSetting("-a topics", wish)

        def context(member: Topic, judge: TopicJudge) -> OrderingContext:
            return known.judged_by(judge).context(member)

        parts = TopicParts(
            canonical=partial(topic_in_canonical_urls, canonicalize=canonicalize),
            judge=lambda keywords: make_judge(keywords, whole.analyzer, options),
            context=context,
        )
        members = {member.name: member for member in topic.members}
        joined = read_topics(folder)
        refuse_changed(joined, topic, str(folder))
        judges = {name: parts.judge(member.keywords) for name, member in members.items()}
        judge = TopicsJudge(whole, judges)
        share = FairShare(options.of(TopicsOptions).crawl_fairness)
        ordering = make_topics_ordering(options.ordering, context(topic, judge), share, options.ordering_parameters)
        places = {name: state.place for name, state in joined.items()}
        for name in members:
            places.setdefault(name, len(places))
        for name in sorted(members, key=places.__getitem__):
            ordering.join(context(members[name], judges[name]), members[name].weight, places[name])
        topics = cls(topic, judge, ordering, parts, options.page_relevant)
        return Choice(judge, ordering, lambda setup: topics)

    def kinds(self, services: Services) -> Mapping[str, Handler]:
        self._services = services
        return {}

    @property
    def members(self) -> dict[str, Topic]:
        return {member.name: member for member in self.topic.members}

    # ------------------------------------------------------------ the folder

    def restore(self, now: float) -> None:
        """Note which topics are in the crawl. Raises ``BadCrawlDir`` for a topic that is not the earlier one of its name."""
        folder = self._services.folder
        self._keeps_pages = folder.bodies
        known = read_topics(folder.path)
        refuse_changed(known, self.topic, str(folder.path))
        self._log = TopicsLog(folder.path)
        for name, state in known.items():
            if state.left is None and name not in self.members:
                self._note(state.topic, LEFT, now)
                self._mark_as_left(state.topic)
        for name, topic in self.members.items():
            if name not in known or known[name].left is not None:
                self._note(topic, JOINED, now)
            self._open_view(topic)

    def replayed(self) -> None:
        self._replaying = False
        for name in self.members:
            self._see_quota(name)

    def join(self, topic: Topic, place: str, now: float) -> None:
        """Add a topic to the running crawl: its seeds wait from now on. ``place`` is where it was read, for messages.

        ``catch_up`` judges stored pages for it. Raises ``BadTopic`` when the topic does not fit the crawl.
        """
        held = {f"the crawl's topic {name}": member for name, member in self.members.items()}
        settings = {name: value for name, value in topic.settings.items() if self.topic.settings.get(name) != value}
        if settings:
            name, value = next(iter(settings.items()))
            raise BadTopic(
                place, f"crawl.{name}: {value!r} is not a setting of the running crawl, and can no longer be set"
            )
        refuse_conflicts({**held, place: replace(topic, settings={})})
        earlier = read_topics(self._services.folder.path)
        _refuse_other_topic(earlier.get(topic.name), self._parts.canonical(topic), place)
        topic = replace(self._parts.canonical(topic), settings={})
        judge = self._parts.judge(topic.keywords)
        context = self._parts.context(topic, judge)
        self._become((*self.topic.members, topic))
        self._judge.join(topic.name, judge, self._parts.judge(self.topic.keywords))
        self._ordering.join(context, topic.weight)
        self._joined_now.add(topic.name)
        self._note(topic, JOINED, now)
        self._services.folder.manifest.note_topic(self.topic)
        self._open_view(topic)
        services = self._services
        for part in services.parts:
            for seed in topic.seeds:
                part.named(seed)
        with services.frontier.batch():
            for seed in topic.seeds:
                services.admission.offer(services.admission.seed_record(seed))

    def leave(self, name: str, now: float) -> None:
        """Remove a topic from the running crawl; its folder stays. Raises ``BadTopic`` for the last topic of the crawl."""
        topic = self.members[name]
        if len(self.topic.members) == 1:
            raise BadTopic(
                f"topic {name}", "is the last topic of the crawl and cannot leave; press Ctrl-C to end the crawl"
            )
        self._become(tuple(member for member in self.topic.members if member.name != name))
        self._judge.leave(name, self._parts.judge(self.topic.keywords))
        self._ordering.leave(name)
        self._note(topic, LEFT, now)
        self._services.folder.manifest.note_topic(self.topic)
        if view := self._views.pop(name, None):
            view.close()
        self._mark_as_left(topic)

    # ------------------------------------------------------------ what is found

    def learn(self, event: FetchEvent) -> None:
        visit = event.visit
        if visit.number > 1 or not visit.md5 or visit.duplicate_of:
            return
        found = visit.topics
        if self._replaying and not found.keys() >= self.members.keys() and (page := event.page()):
            found = page.topics  # a topic joined later
        for name, relevance in found.items():
            if relevance >= self._relevant:
                self._count(name)

    def judge_stored(self, page: Page, judged: Callable[[Page], Page]) -> Page:
        """Judge a stored page, also for topics that joined after it was stored."""
        return replace(judged(page), relevance=page.relevance)

    def end_reason(self, now: float) -> str:
        """``TOPICS_HAVE_ENOUGH`` if every topic has the ``pages`` that it wanted; else empty."""
        enough = all(0 < member.pages <= self.found[name] for name, member in self.members.items())
        return TOPICS_HAVE_ENOUGH if enough else ""

    def progress(self) -> Sequence[str]:
        """The result of each topic: its relevant pages, and where its report is."""
        folder = self._services.folder.path / FOLDER
        return [
            f"{name}: {counted(self.found[name], 'relevant page')}. Report: {folder / name / 'report.html'}"
            for name in self.members
        ]

    def catch_up(self, goes_on: Callable[[], bool] = lambda: True) -> bool:
        """Update the folders of the topics, while ``goes_on()``. Returns whether all are up to date.

        Pages that were stored before a topic joined are judged for it on the way, and its ordering learns from them.
        """
        done = True
        for view in list(self._views.values()):
            done = view.catch_up(goes_on) and done
        return done

    def ended(self, *, over: bool) -> None:
        """Note the state of the crawl, and close the files. The crawl has already noted why it ended.

        Pages that are still to be judged for topics that joined are judged now if the crawl is over, else mostly on a resume.
        """
        manifest = self._services.folder.manifest.found
        most = self._judged + JUDGED_AT_THE_END
        self.catch_up(lambda: over or self._judged < most)
        for view in self._views.values():
            view.describe(manifest)
            view.close()
        self._views.clear()
        if self._log:
            self._log.close()

    # ------------------------------------------------------------ inside

    def _become(self, members: tuple[Topic, ...]) -> None:
        self.topic = self._services.topic = together(self.topic.name, members)

    def _count(self, name: str) -> None:
        self.found[name] += 1
        if not self._replaying:
            self._see_quota(name)

    def _see_quota(self, name: str) -> None:
        """Let a topic that has enough pages count no more."""
        member = self.members.get(name)
        if member and 0 < member.pages <= self.found[name]:
            self._ordering.share.has_enough(name)
            self._ordering.weigh_anew()

    def _note(self, topic: Topic, event: str, now: float) -> None:
        assert self._log is not None, "the crawl has begun"
        self._log.append(TopicEvent(topic, event, now, self._services.folder.history.pages))

    def _open_view(self, topic: Topic) -> None:
        if self._keeps_pages:
            view = TopicView(
                self._services.folder.path,
                topic,
                relevant=self._relevant,
                judge=partial(self._judge_stored, topic.name),
            )
            view.describe(self._services.folder.manifest.found)
            self._views[topic.name] = view

    def _mark_as_left(self, topic: Topic) -> None:
        if self._keeps_pages:
            view = TopicView(self._services.folder.path, topic, relevant=self._relevant, judge=lambda visit: None)
            view.catch_up()
            view.describe(self._services.folder.manifest.found, LEFT_THE_CRAWL)
            view.close()

    def _judge_stored(self, name: str, visit: Visit) -> float | None:
        """The relevance of a stored page to a topic that joined later; its ordering learns from the page, unless by a replay."""
        page = self._services.kinds[visit.kind].stored(visit, (), self._services.steps) if visit.md5 else None
        if page is None:
            return None
        self._judged += 1
        relevance = page.topics[name]
        if name in self._joined_now:
            self._ordering.learn_earlier(name, page)
            if relevance >= self._relevant and not visit.duplicate_of:
                self._count(name)
        return relevance


def refuse_changed(known: dict[str, TopicState], topic: Topic, place: str) -> None:
    """Raise ``BadCrawlDir`` when a member of ``topic`` differs from the topic that the crawl had under that name."""
    for member in topic.members:
        try:
            _refuse_other_topic(known.get(member.name), member, place)
        except BadTopic as wrong:
            raise BadCrawlDir(place, wrong.wish) from None


def _refuse_other_topic(held: TopicState | None, topic: Topic, place: str) -> None:
    if held is None:
        return
    for name in ("keywords", "seeds"):
        if getattr(held.topic, name) != getattr(topic, name):
            wish = f"{name}: the crawl had other {name} for the topic {topic.name!r}; give a changed topic another name"
            raise BadTopic(place, wish)
