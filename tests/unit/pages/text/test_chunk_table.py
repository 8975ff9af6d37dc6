"""The two implementations of chunk look-up, compiled and Python, give the same terms."""

from __future__ import annotations

from random import Random

import pytest

from crawlproject.pages.text import analyzer as analysis
from crawlproject.pages.text.analyzer import Analyzer
from crawlproject.pages.text.tokenizer import ChunkTerms
from crawlproject.webs.sample import SampleWeb

pytest.importorskip("crawlproject.pages.text.chunk_table", reason="not compiled")

PARTS = [
    *" \t\n\x0b\x0c\r\x1c\x1f\x85\xa0\u2003\u2028\u3000",
    *"'’\u00ad\u200d_-./,;:!?&#\"()[]{}<>|\\`~^@$%*+=\x00\x01\x7f\ud800\udfff\ufffd\ufeff",
    *["reef", "reefs", "Reef's", "l'homme", "rock'n'roll", "don't", "the", "a", "2026", "123456", "x" * 70, "naïve"],
    *["коралл", "珊瑚礁と魚", "ปะการัง", "प्रवाल", "e\u0301", "ſ", "İ", "ß", "𝒳𝓎", "😀", "ﬁsh", "٣٤", "word1", "q" * 41],
]


def in_python(**options: object) -> Analyzer:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(analysis, "ChunkTable", ChunkTerms)
        return Analyzer(**options)  # type: ignore[arg-type]


def made_up(random: Random) -> tuple[str, list[int]]:
    text = "".join(random.choices(PARTS, k=random.randrange(80)))
    return text, [random.randrange(len(text) + 1) for _ in range(random.randrange(12))]


@pytest.mark.parametrize("language", ["en", "fr", "zh", "hi"])
@pytest.mark.parametrize("remembered", [7, 100_000])
def test_any_text(language: str, remembered: int) -> None:
    compiled, interpreted = (
        Analyzer(language, remembered=remembered),
        in_python(language=language, remembered=remembered),
    )
    assert not isinstance(compiled.chunks, ChunkTerms)
    random = Random(1)
    for _ in range(750):
        text, cuts = made_up(random)
        found, expected = compiled.terms_between(text, cuts), interpreted.terms_between(text, cuts)
        assert found == expected and list(found[1]) == list(expected[1]), (text, cuts)


def test_pages_of_the_sample_web() -> None:
    web, compiled, interpreted = SampleWeb(), Analyzer(), in_python()
    for url in Random(1).sample(sorted(web.urls()), 100):
        text = web.get(url).body.decode("utf-8", "replace")
        cuts = range(0, len(text), 7)
        assert compiled.terms_between(text, cuts) == interpreted.terms_between(text, cuts), url


def test_as_many_chunks_are_remembered() -> None:
    compiled, interpreted = Analyzer(), in_python()
    text = " ".join(f"word{number}" for number in range(20_000)) + " l'homme d'or " + "x" * 100
    for analyzer in (compiled, interpreted):
        analyzer.terms(text)
    assert len(compiled.chunks) == len(interpreted.chunks)
