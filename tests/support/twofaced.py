"""A web with four hosts: one cloaks, one serves soft 404s, one redirects missing pages home, and one is honest."""

from __future__ import annotations

from random import Random

from crawlproject.records import Reply
from crawlproject.webs.base import not_held
from support.webs import DictWeb, html

HTML = {"content-type": "text/html; charset=utf-8"}
BROWSER = "Mozilla/5.0 (X11; Linux x86_64) Browser/5.0"
CLOAKS, SOFT, SENDS, HONEST = (f"http://{name}.example" for name in ("cloaks", "soft", "sends", "honest"))
PORTAL = "http://portal.example/"

_WORDS = ("coral", "reef", "polyp", "lagoon", "atoll", "algae", "ocean", "tide", "fish", "sponge", "turtle", "shore")


def prose(seed: object, words: int = 120) -> str:
    """A text that is the same for the same seed."""
    rng = Random(str(seed))
    return " ".join(f"{rng.choice(_WORDS)}{rng.choice(_WORDS)}" for _ in range(words))


def article(url: str, *links: str, text: str = "") -> Reply:
    return Reply(url, 200, HTML, html(*links, text=text or f"coral reef {prose(url)}", title=f"About {prose(url, 2)}"))


class TwoFacedWeb(DictWeb):
    """A web with ``pages`` pages per host. Links also name a third as many missing pages of ``SOFT`` and ``SENDS``."""

    def __init__(self, pages: int = 9) -> None:
        self.there = {origin: [f"{origin}/{n}.html" for n in range(pages)] for origin in (CLOAKS, SOFT, SENDS, HONEST)}
        self.gone = {origin: [f"{origin}/gone-{n}.html" for n in range(pages // 3)] for origin in (SOFT, SENDS)}
        named = [url for urls in (*self.there.values(), *self.gone.values()) for url in urls]
        replies = {PORTAL: Reply(PORTAL, 200, HTML, html(*named, text="coral reef"))}
        replies |= {url: article(url) for urls in self.there.values() for url in urls}
        replies |= {f"{origin}/": article(f"{origin}/") for origin in (SOFT, SENDS)}
        super().__init__(replies)

    def get(self, url: str) -> Reply:
        if url in self.replies or url.endswith("/robots.txt"):
            return super().get(url)
        if url.startswith(SOFT):
            name = url.rpartition("/")[2]
            words = prose("soft", 60)
            return Reply(url, 200, HTML, html(text=f"Alas, {name}. {words}", title=f"Nothing like {name} around here"))
        if url.startswith(SENDS):
            return Reply(url, 302, {"location": f"{SENDS}/"})
        return not_held(url)

    def get_as(self, url: str, agent: str) -> Reply:
        reply = self.get(url)
        if agent == BROWSER and url.startswith(CLOAKS) and reply.status == 200:
            return article(url, text=f"Buy now. {prose('shop', 80)}")
        return reply
