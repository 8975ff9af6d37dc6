"""The judge that ``TOPIC_RELEVANCE`` names, unless it is one that compares words with the keywords."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from crawlproject.core.part import Part, Setup
from crawlproject.core.prior_knowledge import PriorKnowledge
from crawlproject.errors import BadSetting
from crawlproject.pages.text.relevance import TopicJudge
from crawlproject.parts.judges.appointed import AppointedJudge
from crawlproject.parts.judges.base import Given
from crawlproject.parts.judges.options import JudgeOptions
from crawlproject.parts.judges.registry import SETTING, judge_class
from crawlproject.records import Topic


class Judges(Part):
    """The part of a crawl with such a judge; its counters say what became of the questions."""

    name = "judges"

    def __init__(self, judge: AppointedJudge, *, rehearsal: bool) -> None:
        self.judge = judge
        self._is_ours = not rehearsal  # rehearsals of one topic share a judge
        self._before = judge.counters()

    @classmethod
    def appoint(cls, topic: Topic, known: PriorKnowledge, rehearsals: Path | None) -> TopicJudge | None:
        name, options = known.options.topic_relevance, known.options.of(JudgeOptions)
        cls_of_judge = judge_class(name)
        if topic.members:
            raise BadSetting(SETTING, f"{name} judges for one topic; a crawl of several needs terms or vectors")
        judge = cls_of_judge(Given.of(topic, known))
        waits = rehearsals is not None
        appointed = AppointedJudge(name, judge, known.judge, seconds=options.judge_seconds, waits=waits)
        if rehearsals is not None:
            appointed.keep_in(rehearsals)
        return appointed

    @classmethod
    def make(cls, setup: Setup) -> Judges | None:
        judge = setup.judge
        if not isinstance(judge, AppointedJudge):
            return None
        judge.keep_in(setup.folder.path)
        return cls(judge, rehearsal=setup.rehearsal)

    def close(self, reason: str, *, over: bool) -> None:
        if self._is_ours:
            self.judge.close()

    def counters(self) -> Mapping[str, int]:
        """The counters of this run."""
        return {name: number - self._before.get(name, 0) for name, number in self.judge.counters().items()}

    def progress(self) -> Sequence[str]:
        failed = {
            name: number for name, number in self.counters().items() if name.startswith("judge/failed/") and number
        }
        if not failed:
            return ()
        reasons = ", ".join(f"{name.rpartition('/')[2]} {number}" for name, number in failed.items())
        return (f"judge {self.judge.name}: {sum(failed.values())} times no answer ({reasons}), and judged by words",)
