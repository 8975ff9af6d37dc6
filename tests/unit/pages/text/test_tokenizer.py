from collections.abc import Callable
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlproject.pages.text.tokenizer import CharacterGroups, Tokenizer, Words


@cache
def words_of(language: str) -> Callable[[str], list[str]]:
    """A cached tokenizer: spaCy takes seconds to load, and French as long again."""
    from crawlproject.pages.text.spacy_language import SpacyWords

    return SpacyWords(language)


def test_words_are_letters_digits_marks_and_apostrophes() -> None:
    assert Words()("The crawler's 2nd “visit”—naïve, snake_case; हिन्दी भाषा।") == [
        *("The", "crawler's", "2nd", "visit", "naïve", "snake", "case", "हिन्दी", "भाषा")
    ]


def test_joiners_are_inside_words() -> None:
    assert Words()("Haus\u00adtür ශ්\u200dරී") == ["Haus\u00adtür", "ශ්\u200dරී"]


@pytest.mark.parametrize(
    ("language", "text", "tokens"),
    [
        ("fr", "l'homme aujourd’hui, presqu'île", ["homme", "aujourdʼhui", "île"]),
        ("uk", "п'ять комп’ютер. Об'єкт", ["пʼять", "компʼютер", "Обʼєкт"]),
        ("ca", "l'escola: col·lecció d’aigua", ["escola", "col·lecció", "aigua"]),
        ("it", "dell'acqua quell’uomo citta'", ["acqua", "uomo", "citta'"]),
        ("fr", "l'", ["l'"]),
        ("fr", "«»—' ’", []),
        ("fr", "", []),
    ],
)
def test_words_of_spacy(language: str, text: str, tokens: list[str]) -> None:
    assert words_of(language)(text) == tokens


def test_groups_overlap_inside_a_run_and_leave_other_words_alone() -> None:
    assert CharacterGroups()("北京大学 in 京，Python3") == ["北京", "京大", "大学", "in", "京", "Python3"]


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("인터넷 검색", ["인터", "터넷", "검색"]),
        ("時々食べる", ["時々", "々食", "食べ", "べる"]),
        ("パーティションを作成", ["パーティ", "ーティシ", "ティショ", "ィション", "を作", "作成"]),
        ("ファイル・システム", ["ファイル", "システム"]),
        ("サーバーのログ", ["サーバ", "の", "ログ"]),
        ("ー", ["ー"]),
        ("ภาษาไทย", ["ภาษา", "าษาไ", "ษาไท", "าไทย"]),
        ("ទំព័រ", ["ទំព័", "ំព័រ"]),
    ],
)
def test_a_group_has_four_letters_of_borrowed_words_and_of_alphabets(text: str, tokens: list[str]) -> None:
    assert CharacterGroups()(text) == tokens


@pytest.mark.parametrize(
    ("text", "position", "boundary"),
    [
        ("crawlers go", 7, 8),  # <a>crawler</a>s
        ("Google's", 6, 8),  # <a>Google</a>'s
        ("l'homme", 2, 7),  # l'<a>homme</a>: one token, and for the analyzer to see that the second half is all of it
        ("two words", 3, 3),
        ("two words", 4, 4),
        ("end", 3, 3),
        ("start", 0, 0),
    ],
)
def test_a_word_is_not_cut(text: str, position: int, boundary: int) -> None:
    assert Words().boundary(text, position) == boundary


def test_unspaced_text_can_be_cut_anywhere() -> None:
    assert [CharacterGroups().boundary("北京abc", position) for position in range(6)] == [0, 1, 5, 5, 5, 5]


@given(st.text(), st.integers(0, 20), st.sampled_from([Words, CharacterGroups, lambda: words_of("fr")]))
def test_boundaries_lie_ahead_and_cut_no_token_of_words(
    text: str, position: int, new_tokenizer: Callable[[], Tokenizer]
) -> None:
    tokenizer = new_tokenizer()
    position = min(position, len(text))
    boundary = tokenizer.boundary(text, position)
    assert position <= boundary <= len(text)
    assert tokenizer.boundary(text, boundary) == boundary
