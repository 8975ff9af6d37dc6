"""Sketches of texts, compared with the texts themselves."""

from __future__ import annotations

from random import Random

from hypothesis import given
from hypothesis import strategies as st

from crawlproject.parts.revisits.text_difference import TextSketch, estimated_novelty, novelty, read_sketch, sketch_of

WORDS = ["reef", "coral", "12", "17", "may", "June", "tide", "wave", "\u00e9", "\U0001f41f"]
TEXTS = st.lists(st.sampled_from(WORDS), max_size=14).map(" ".join)


@given(TEXTS, TEXTS)
def test_two_texts_are_the_same_when_nothing_is_new(one: str, two: str) -> None:
    found = estimated_novelty(sketch_of(one), sketch_of(two))
    assert (found == 0.0) == (novelty(one, two) == 0.0) and 0.0 <= found <= 1.0
    assert read_sketch(sketch_of(one).written()) == sketch_of(one)


def test_novelty_is_about_right() -> None:
    draw, errors = Random(3), []
    for _ in range(200):
        words = [f"word{chr(97 + draw.randrange(26))}{chr(97 + draw.randrange(26))}" for _ in range(300)]
        kept = draw.randrange(300)
        other = [*words[:kept], *(f"{word}x" for word in words[kept:])]
        one, two = " ".join(words), " ".join(other)
        errors.append(estimated_novelty(sketch_of(one), sketch_of(two)) - novelty(one, two))
    assert abs(sum(errors) / len(errors)) < 0.02
    assert (sum(error**2 for error in errors) / len(errors)) ** 0.5 < 0.1


@given(st.text())
def test_what_is_no_sketch_is_none(text: str) -> None:
    assert read_sketch(text) is None or isinstance(read_sketch(text), TextSketch)
