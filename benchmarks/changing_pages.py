"""Pages as servers change them: for every visitor alike, or for crawlers only, which is cloaking."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from random import Random

Serve = Callable[[bytes, Random, bool, int], bytes]  # body, generator of this fetch, whether for a browser, page number

_WORDS = (
    *(
        "garden",
        "river",
        "bicycle",
        "kettle",
        "orange",
        "window",
        "piano",
        "castle",
        "rabbit",
        "thunder",
        "velvet",
        "marble",
    ),
    *(
        "lantern",
        "anchor",
        "pepper",
        "saddle",
        "copper",
        "meadow",
        "harvest",
        "compass",
        "blanket",
        "feather",
        "mirror",
    ),
    *("candle", "basket", "whistle", "puzzle", "ribbon", "tunnel", "helmet", "walnut", "ladder", "button", "pocket"),
)


# ------------------------------------------------------------ changes for every visitor


def text(rng: Random, words: int) -> str:
    return " ".join(rng.choices(_WORDS, k=words))


def added(body: bytes, html: str) -> bytes:
    """The page with ``html`` appended."""
    head, tag, rest = body.rpartition(b"</body>")
    return (head + html.encode() + tag + rest) if tag else body + html.encode()


def nothing(body: bytes, rng: Random, browser: bool, number: int) -> bytes:
    return body


def dated(body: bytes, rng: Random, browser: bool, number: int) -> bytes:
    """Add the date, a counter, and the time that the page took."""
    return added(
        body, f"<p>Visitor {rng.randrange(10**6)}, {rng.randrange(1, 29)}.{rng.randrange(1, 13)}.2026 {rng.random()}"
    )


def advertised(body: bytes, rng: Random, browser: bool, number: int) -> bytes:
    """Add three advertisements out of a hundred."""
    ads = (Random(f"ad {rng.randrange(100)}") for _ in range(3))
    return added(
        body, "".join(f'<div><a href="http://ads.example/{text(ad, 1)}">{text(ad, 12)}</a></div>' for ad in ads)
    )


def related(body: bytes, rng: Random, browser: bool, number: int) -> bytes:
    """Add eight related pages out of sixty."""
    chosen = rng.sample(range(60), 8)
    return added(body, "".join(f'<li><a href="/related/{n}">{text(Random(n), 7)}</a>' for n in chosen))


def boxed(body: bytes, rng: Random, browser: bool, number: int) -> bytes:
    """Add a box of 120 words that half of the visitors see."""
    return added(body, f"<div>{text(Random(f'box {number}'), 120)}</div>") if rng.random() < 0.5 else body


def shuffled(body: bytes, rng: Random, browser: bool, number: int) -> bytes:
    """Replace every third paragraph by a different one each time."""
    return re.sub(rb"<p[^>]*>", lambda found: found[0] + (text(rng, 30).encode() if rng.random() < 0.33 else b""), body)


def bannered(body: bytes, rng: Random, browser: bool, number: int) -> bytes:
    """Add a consent dialog and an offer for browsers."""
    return added(body, f"<div>{text(Random(7), 80)}</div>") if browser else body


def everything(body: bytes, rng: Random, browser: bool, number: int) -> bytes:
    for change in (dated, advertised, related, boxed, bannered):
        body = change(body, rng, browser, number)
    return body


CHANGES: dict[str, Serve] = {
    "none": nothing,
    "dates and counters": dated,
    "advertisements": advertised,
    "related pages": related,
    "a box for every other visitor": boxed,
    "a third of the paragraphs": shuffled,
    "a banner for browsers": bannered,
    "all of these but paragraphs": everything,
}


# ------------------------------------------------------------ cloaking


def stuffed(share: float) -> Serve:
    """Add keywords for crawlers, as many as ``share`` of the words of the page."""

    def serve(body: bytes, rng: Random, browser: bool, number: int) -> bytes:
        words = int(share * len(re.sub(rb"<[^>]*>", b" ", body).split()))
        return body if browser else added(body, f"<p>{text(Random(f'stuffed {number}'), words)}")

    return serve


def farmed(links: int) -> Serve:
    """Add links for crawlers, with hardly any text."""

    def serve(body: bytes, rng: Random, browser: bool, number: int) -> bytes:
        farm = "".join(f'<a href="http://farm{n}.example/{number}">x</a> ' for n in range(links))
        return body if browser else added(body, farm)

    return serve


def sneaky(bodies: Sequence[bytes]) -> Serve:
    """Serve a different page to browsers."""

    def serve(body: bytes, rng: Random, browser: bool, number: int) -> bytes:
        return bodies[(number + 1) % len(bodies)] if browser else body

    return serve


def also(first: Serve, second: Serve) -> Serve:
    return lambda body, rng, browser, number: second(first(body, rng, browser, number), rng, browser, number)
