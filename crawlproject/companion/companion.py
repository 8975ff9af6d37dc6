"""The companion: learns from what the person does, and suggests pages that lie ahead of the current page."""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from math import log2

from crawlproject.companion.interests import BOILERPLATE, Interests, heaviest, page_vector
from crawlproject.companion.look_ahead import LEAST, NO_TOPIC, SHOWN, LookAhead, Suggestion, suggest
from crawlproject.companion.profile import MOST_WEIGHT, Profile
from crawlproject.errors import BadInput
from crawlproject.pages.text.analyzer import Analyzer
from crawlproject.urls.canonical import canonical_or_none
from crawlproject.urls.hosts import host_of

SAVED, DISMISSED = 3.0, -2.0  # worth of a verdict; saving equals about two minutes of reading
LEFT_AT_ONCE, AT_ONCE = -0.25, 4.0  # worth of a page that was left within this number of seconds
LONGEST = 600.0  # seconds per page that count; longer means that the person has walked away
KEYWORDS, REPEATS = 8, 5  # of a look-ahead: words from the profile, and repetitions of the strongest one
OF_THE_PAGE, ITS_SHARE = 10, 0.3  # keywords from the current page, and their weight relative to those from the profile
READINGS = 500  # opened or judged pages that are remembered


def worth_of(seconds: float) -> float:
    """The worth of a page that was read for ``seconds``: 1 for 15 seconds, 2.3 for a minute, 3.5 for 150 seconds."""
    return log2(1.0 + min(seconds, LONGEST) / 15.0)


@dataclass
class Reading:
    """A page that the person has opened or judged."""

    url: str
    title: str
    counts: Mapping[str, int] = field(default_factory=dict)
    seconds: float = 0.0
    learned: float = 0.0  # the part of its worth that the interests already contain


class Companion:
    """Keeps the interests of one person up to date, directs the look-ahead, and ranks suggestions.

    ``keep`` is called with the profile after each change; it may raise ``StorageFailed``. Not thread-safe. Every method is
    fast enough for an event loop. URLs need not be canonical.
    """

    def __init__(
        self,
        ahead: LookAhead,
        profile: Profile,
        analyzer: Analyzer,
        keep: Callable[[Profile], object],
        *,
        least: float = LEAST,
        most: int = SHOWN,
    ) -> None:
        self.ahead = ahead
        self.at_hand: Reading | None = None
        self._analyzer = analyzer
        self._boilerplate = {*analyzer.terms(BOILERPLATE)}
        self._keep = keep
        self._least = least
        self._most = most
        self._readings: OrderedDict[str, Reading] = OrderedDict()
        self._words: dict[str, str] = {}  # a word for each term
        self.take_profile(profile)

    def take_profile(self, profile: Profile) -> None:
        """Replace the profile, because the person has edited it or starts over."""
        self.profile = profile
        weights = defaultdict[str, float](float)
        for word, weight in profile.interests.items():
            for term in self._analyzer.terms(word)[:1]:
                weights[term] += weight
                self._words[term] = word
        self.interests = Interests(dict(weights))
        self.ahead.pace.paused = profile.paused
        self._leave_out()

    # ------------------------------------------------------------ what the person does

    def open(self, url: str, title: str, counts: Mapping[str, int], words: Mapping[str, str], now: float) -> bool:
        """The person has opened a page. Return whether the look-ahead starts from it: not when paused or excluded.

        ``counts`` are the counts of its terms, if known, and ``words`` a word for each term. Raises ``BadInput`` for an
        invalid URL, and ``StorageFailed``.
        """
        canonical = self._canonical(url)
        if self.profile.paused or self.profile.is_excluded(host_of(canonical)):
            self.leave(now)
            return False
        if self.at_hand is not None and self.at_hand.url == canonical:
            return True
        self._left(now)
        reading = self._reading(canonical, title)
        if counts:
            reading.counts = counts
            self._words |= words
        self._remember(reading)
        self.at_hand = reading
        self.ahead.move(canonical, self.keywords(reading))
        return True

    def stay(self, url: str, seconds: float, now: float) -> None:
        """Add ``seconds`` to the reading time of an opened page. Raises ``BadInput`` and ``StorageFailed``."""
        reading = self._readings.get(self._canonical(url))
        if reading is None or self.profile.paused or not seconds > 0:
            return
        reading.seconds = min(reading.seconds + seconds, LONGEST)
        self._settle(reading, now)

    def judge(self, url: str, verdict: str, now: float) -> None:
        """The person has ``saved`` or ``dismissed`` an opened or suggested page. An empty verdict withdraws the earlier one.

        Raises ``BadInput`` and ``StorageFailed``.
        """
        if verdict not in ("saved", "dismissed", ""):
            raise BadInput("verdict", "expected saved, dismissed, or nothing to take it back")
        canonical = self._canonical(url)
        reading = self._reading(canonical, "")
        self._remember(reading)
        self.profile.mark(canonical, verdict)
        self._settle(reading, now)
        self._keep(self.profile)

    def leave(self, now: float) -> None:
        """The person has moved to a page that the companion does not follow."""
        self._left(now)
        self.at_hand = None
        self.ahead.stop()

    def settle(self, now: float) -> None:
        """Learn from the current page as soon as its terms are known from the crawl. Raises ``StorageFailed``."""
        if self.at_hand is not None:
            self._settle(self.at_hand, now)

    def pause(self, paused: bool, now: float) -> None:
        """Pause or resume. While paused, nothing is fetched, learned or remembered. Raises ``StorageFailed``."""
        if paused:
            self.leave(now)
        self.profile.paused = self.ahead.pace.paused = paused
        self._keep(self.profile)

    def exclude(self, url: str, now: float) -> None:
        """Never learn or look ahead from the host of ``url`` again. Raises ``BadInput`` and ``StorageFailed``."""
        host = host_of(self._canonical(url))
        if not self.profile.is_excluded(host):
            self.profile.never.append(host)
        self._leave_out()
        self._keep(self.profile)

    def weigh(self, word: str, weight: float) -> None:
        """Set the weight of a word; 0 removes it. Raises ``BadInput`` unless ``word`` is one word, and ``StorageFailed``."""
        terms = self._analyzer.terms(word)
        if len(terms) != 1 or not abs(weight) <= MOST_WEIGHT:
            raise BadInput("word", f"expected one word that is not a stop word, and a number; not {word[:60]!r}")
        self.profile.interests.pop(self._word(terms[0]), None)
        self.interests.weights.pop(terms[0], None)
        if weight:
            self._words[terms[0]] = word
            self.interests.weights[terms[0]] = self.profile.interests[word] = weight
        self._keep(self.profile)

    def forget(self) -> None:
        """Remove everything that was learned, opened or fetched from memory. The caller deletes the stored profile."""
        self.at_hand = None
        self.ahead.stop()
        self._readings.clear()
        self._words.clear()
        self.ahead.following.forget()
        self.take_profile(Profile(self.profile.language, self.profile.paused))

    # ------------------------------------------------------------ what the person sees

    def suggestions(self) -> list[Suggestion]:
        """The pages ahead of the current page that match the interests, without pages that were opened or judged."""
        if self.at_hand is None:
            return []
        interests, without = self.interests, {*self._readings, *self.profile.saved, *self.profile.dismissed}
        if not interests.weights:  # nothing was learned yet: suggest pages similar to the current one
            interests = Interests(self._vector(self.at_hand))
        return suggest(
            self.ahead.ahead(self.at_hand.url),
            interests,
            self.ahead.following.frequencies,
            without=without,
            word_of=self._word,
            most=self._most,
            least=self._least,
        )

    def keywords(self, reading: Reading) -> list[str]:
        """The keywords of the look-ahead, from the profile and the page. Each is repeated in proportion to its weight."""
        weights = {term: weight for term, weight in heaviest(self.interests.weights, KEYWORDS).items() if weight > 0}
        strongest = max(weights.values(), default=0.0)
        own = heaviest(self._vector(reading), OF_THE_PAGE)
        top = max(own.values(), default=0.0)
        mixed = {term: weight / strongest for term, weight in weights.items()}
        for term, weight in own.items():
            mixed[term] = mixed.get(term, 0.0) + (ITS_SHARE if strongest else 1.0) * weight / top
        spelled = [[self._word(term)] * max(1, round(REPEATS * weight)) for term, weight in mixed.items()]
        words = [word for words in spelled for word in words]
        return next(
            filter(lambda words: self._analyzer.terms(" ".join(words)), (words, [reading.title])), [*NO_TOPIC.keywords]
        )

    # ------------------------------------------------------------ inside

    def _canonical(self, url: str) -> str:
        found = canonical_or_none(self.ahead.crawl.canonicalize, url)
        if found is None:
            raise BadInput("url", f"expected the http or https address of a page, not {url[:100]!r}")
        return found

    def _leave_out(self) -> None:
        """Drop the current page and all readings that are on excluded hosts."""
        if self.at_hand is not None and self.profile.is_excluded(host_of(self.at_hand.url)):
            self.at_hand = None
            self.ahead.stop()
        for known in [known for known in self._readings if self.profile.is_excluded(host_of(known))]:
            del self._readings[known]

    def _left(self, now: float) -> None:
        """The person leaves the current page. Leaving it almost at once counts against it."""
        if self.at_hand is not None:
            self._settle(self.at_hand, now, left=True)

    def _settle(self, reading: Reading, now: float, *, left: bool = False) -> None:
        """Learn the worth of the page by reading time and verdict, less what was learned from it before."""
        worth = self._verdict(reading.url)
        if reading.seconds >= AT_ONCE:
            worth += worth_of(reading.seconds)
        elif left and reading.seconds:
            worth += LEFT_AT_ONCE
        gain = worth - reading.learned
        vector = self._vector(reading)
        if not gain or not vector:
            return
        if self.profile.updated:
            self.interests.fade(now - self.profile.updated)
        self.interests.learn(vector, gain)
        reading.learned = worth
        self.profile.updated = now
        self.profile.interests = {self._word(term): weight for term, weight in self.interests.weights.items()}
        self._keep(self.profile)

    def _verdict(self, url: str) -> float:
        return SAVED * (url in self.profile.saved) + DISMISSED * (url in self.profile.dismissed)

    def _reading(self, url: str, title: str) -> Reading:
        """The known reading of a page, or a new one. The verdict of an earlier session was learned in that session."""
        return self._readings.get(url) or Reading(url, title, learned=self._verdict(url))

    def _vector(self, reading: Reading) -> dict[str, float]:
        counts = reading.counts
        if not counts:
            page = self.ahead.following.page(reading.url)
            counts = page.counts if page else {}
        counts = {term: count for term, count in counts.items() if term not in self._boilerplate}
        return page_vector(counts, self.ahead.following.frequencies)

    def _word(self, term: str) -> str:
        return self._words.get(term) or self.ahead.following.words.get(term, term)

    def _remember(self, reading: Reading) -> None:
        self._readings[reading.url] = reading
        self._readings.move_to_end(reading.url)
        if len(self._readings) > READINGS:
            self._readings.popitem(last=False)
