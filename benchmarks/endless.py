"""An endless web for measuring: any URL of its hosts answers with a page made from the URL alone.

Pages of about 30 KB have 40 links, 500 elements and 1,700 words, over 200 hosts: per kilobyte, as much as pages of today's
public sites. Words are drawn by Zipf's law, a few of them about the topic ``coral reef``, so that an ordering has something
to order. Nearly every link is new to the crawler: the worst case for a frontier. Unless ``inside`` is set, nearly every link
leads to another host: the worst case for workers that divide the hosts among them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from hashlib import blake2b
from random import Random

from crawlproject.records import Reply
from crawlproject.webs.base import not_held

SYLLABLES = [
    "ba",
    "co",
    "di",
    "fu",
    "ga",
    "hi",
    "jo",
    "ka",
    "le",
    "mi",
    "nu",
    "po",
    "ra",
    "si",
    "to",
    "va",
    "we",
    "xi",
    "yo",
    "za",
]
TOPIC = ["coral", "reef", "fish", "lagoon", "atoll", "polyp", "bleaching", "sea", "diver", "island"]


def vocabulary(words: int = 20_000) -> list[str]:
    """Made-up words of two to four syllables, always the same ones."""
    random = Random(1)
    return ["".join(random.choices(SYLLABLES, k=random.randint(2, 4))) for _ in range(words)]


class EndlessWeb:
    """``hosts`` hosts ``h0.example`` and up, each with endless pages ``/p<number>.html``. ``inside``: the share of a page's
    links that stay on its host; the others lead to any host.
    """

    warnings: Sequence[str] = ()

    def __init__(self, *, hosts: int = 200, links: int = 40, inside: float = 0.0) -> None:
        self.hosts = hosts
        self.inside = inside
        self.links = links
        self._words = vocabulary()
        self._weights = [1 / (rank + 10) for rank in range(len(self._words))]
        self._paragraphs = self._make_paragraphs()
        self._body = lru_cache(maxsize=20_000)(self._make_body)

    def get(self, url: str) -> Reply:
        if url.endswith("/robots.txt") or not url.startswith("http://h"):
            return not_held(url)
        return Reply(url, 200, {"content-type": "text/html; charset=utf-8"}, self._body(url))

    def urls(self) -> Iterator[str]:
        return (f"http://h{host}.example/" for host in range(self.hosts))

    def __contains__(self, url: str) -> bool:
        return self.get(url).status == 200

    def close(self) -> None:
        return None

    def _make_paragraphs(self) -> list[str]:
        random = Random(2)
        made = []
        for _ in range(2_000):
            words = random.choices(self._words, self._weights, k=40)
            if random.random() < 0.2:
                words[random.randrange(40)] = random.choice(TOPIC)
            made.append(" ".join(words))
        return made

    def _make_body(self, url: str) -> bytes:
        random = Random(blake2b(url.encode(), digest_size=8).digest())
        parts = [f"<!doctype html><html lang=en><head><title>{url}</title></head><body><h1>{url}</h1>"]
        for number in range(self.links):
            host = f"http://h{random.randrange(self.hosts)}.example"
            if self.inside and random.random() < self.inside:
                host = url[: url.index("/", 8)]
            target = f"{host}/p{random.randrange(10**7)}.html"
            text = random.choice(self._paragraphs)
            words = text.split()
            cells = "".join(
                f'<span class="cell cell-{n}" data-key="{words[n]}-{number}">{words[n]}</span>' for n in range(6)
            )
            parts.append(
                f'<div class="entry entry--wide" id="entry-{number}"><div class="entry__head">{cells}</div>'
                f'<p class="entry__text">{text} <a class="entry__link" href="{target}" title="{words[0]}">'
                f"{' '.join(words[:3])}</a></p><ul><li>{words[3]}</li><li>{words[4]}</li></ul></div>"
            )
        return "".join([*parts, "</body></html>"]).encode()
