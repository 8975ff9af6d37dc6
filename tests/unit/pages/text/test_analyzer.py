from functools import cache

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from crawlproject.errors import BadInput
from crawlproject.pages.text import analyzer as analysis
from crawlproject.pages.text.analyzer import Analyzer

ENGLISH = Analyzer("en")
analyzer_of = cache(Analyzer)  # spaCy takes seconds to load French


def test_the_example_of_paper_000_section_2_4_has_one_stem() -> None:
    assert ENGLISH.terms("connect connected connection Connecting") == ["connect"] * 4


def test_stop_words_are_left_out() -> None:
    assert ENGLISH.terms("It and it can be THE crawler of hers") == ["crawler"]


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("don't can't won't it's they're we’ve", []),
        ("crawler's crawlers’ O’Reilly 'quoted' rock'n'roll", ["crawler", "crawler", "reilli", "quot", "rock"]),
        ("1997 python3 0123456789 2.19", ["1997", "python3", "2", "19"]),
        ("foo_bar C++ R x/y", ["foo", "bar", "c", "r", "x", "y"]),
        ("“naïve”—café…", ["naïv", "café"]),
        ("", []),
        (" \n\0 ' '' ", []),
    ],
)
def test_what_is_a_term(text: str, terms: list[str]) -> None:
    assert ENGLISH.terms(text) == terms


@pytest.mark.parametrize(
    ("language", "text", "terms"),
    [
        ("de", "Die Häuser und das Haus", ["haus", "haus"]),
        ("fr", "L'homme qu'il d’accord, les économies", ["homm", "accord", "économ"]),
        ("ru", "Книги и книга", ["книг", "книг"]),
        ("uk", "п'ять об'єкт комп’ютер компʼютер", ["обʼєкт", "компʼютер", "компʼютер"]),
        ("de", "Haus\u00adtür Haustür", ["haustur", "haustur"]),
        ("zh", "北京大学", ["北京", "京大", "大学"]),
        ("hi", "हिन्दी", ["हिन्द"]),
        ("sa", "crawlers", ["crawlers"]),
        ("EN_us", "crawling", ["crawl"]),
    ],
)
def test_each_language_has_its_stop_words_and_stems(language: str, text: str, terms: list[str]) -> None:
    assert Analyzer(language).terms(text) == terms


@pytest.mark.parametrize("language", ["xx", "klingon", "", "../en"])
def test_an_unknown_language_is_refused_with_the_known_ones(language: str) -> None:
    with pytest.raises(BadInput, match=r"expected one of af, .* zh; not"):
        Analyzer(language)


def test_the_tokenizer_can_be_replaced() -> None:
    class Letters:
        def __call__(self, text: str) -> list[str]:
            return list(text)

        def boundary(self, text: str, position: int) -> int:
            return position

    assert Analyzer(tokenize=Letters()).terms("xyz 12") == ["x", "y", "z", "1", "2"]


def test_long_tokens_are_cut_and_not_remembered() -> None:
    analyzer = Analyzer()
    assert analyzer.terms("x" * 1_000_000) == ["x" * analysis.MAX_TERM]
    assert len(analyzer.chunks) == 0


def test_memory_is_bounded_and_forgetting_changes_no_answer() -> None:
    analyzer = Analyzer(remembered=10)
    text = " ".join(f"word{number}" for number in range(100))
    expected = [f"word{number}" for number in range(100)]
    for _ in range(3):
        assert analyzer.terms(text) == expected
        assert 0 < len(analyzer.chunks) <= 10


def test_terms_between_cuts() -> None:
    assert ENGLISH.terms_between("the crawlers visit pages", [0, 4, 13, 24]) == (
        ["crawler", "visit", "page"],
        {0: 0, 4: 0, 13: 1, 24: 3},
    )


def test_a_word_that_a_cut_would_split_belongs_to_the_side_where_it_begins() -> None:
    terms, before = ENGLISH.terms_between("crawlers visit", [0, 7, 8])
    assert terms == ["crawler", "visit"]
    assert before == {0: 0, 7: 1, 8: 1}


@pytest.mark.parametrize(
    ("text", "cut", "before"),
    [("l'homme", 2, 0), ("'homme'", 1, 0), ("homme's", 5, 1), ("homme's", 6, 1), ("rock'n'roll", 5, 1), ("1''1", 1, 1)],
)
def test_a_cut_at_an_apostrophe(text: str, cut: int, before: int) -> None:
    assert analyzer_of("fr").terms_between(text, [cut]) == (analyzer_of("fr").terms(text), {cut: before})
    assert len(analyzer_of("fr").terms(text)) == 1


@example("1''1", {1}, "en")
@example("b'b", {2}, "en")
@example("b'a b'b", {2, 6}, "en")
@given(
    st.text(alphabet=st.sampled_from("ab'’ \n,.\0é中—_1·l")), st.sets(st.integers(0, 30)), st.sampled_from(["en", "fr"])
)
def test_cuts_change_no_term_and_count_monotonically(text: str, places: set[int], language: str) -> None:
    analyzer = analyzer_of(language)
    cuts = {min(place, len(text)) for place in places}
    terms, before = analyzer.terms_between(text, cuts)
    assert terms == analyzer.terms(text)
    assert set(before) == cuts
    ordered = [before[cut] for cut in sorted(cuts)]
    assert ordered == sorted(ordered)
    assert all(0 <= number <= len(terms) for number in ordered)


@given(st.text())
def test_any_text_gives_terms_without_stop_words_or_white_space(text: str) -> None:
    for term in ENGLISH.terms(text):
        assert term and not term.isspace()
