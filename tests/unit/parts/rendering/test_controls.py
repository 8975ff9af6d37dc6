"""The choice of controls to click on a page, and the estimates for their kinds afterwards."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlproject.core.learned_state import dump_values, load_values
from crawlproject.parts.rendering.controls import LEAST, Control, ControlModel, PageTrials, controls
from crawlproject.parts.rendering.harmful_names import is_harmful
from crawlproject.parts.rendering.part import Rendering
from crawlproject.records import RENDERED, FetchEvent, Page, Visit

PAGE = Page("http://a.example/1")
MORE, TAB, MENU = Control(0, "more"), Control(1, "tab"), Control(2, "menu")


def learned(*pages: dict[str, bool], host: str = "a.example") -> ControlModel:
    model = ControlModel()
    for page in pages:
        model.learn(host, {f"clicked/{kind}": float(gained) for kind, gained in page.items()})
    return model


def clicks(trials: PageTrials, shown: list[Control], brings: set[Control]) -> list[Control]:
    """All clicks on a page whose controls stay; some of them bring a link each time."""
    made = []
    while (control := trials.choose(shown)) is not None:
        trials.clicked(control, links=int(control in brings), text=0)
        made.append(control)
    return made


def test_what_a_click_is_expected_to_bring() -> None:
    model = learned({"more": True, "menu": False}, {"more": True, "menu": False})
    # The host: (2 + 5) / (4 + 10) = 0.5. A kind: (gains + 2 * 0.5) / (trials + 2).
    assert model.expected("a.example", "new") == 0.5
    assert model.expected("a.example", "more") == 0.75
    assert model.expected("a.example", "menu") == 0.25
    assert model.expected("a.example", "menu", trials=1) == 0.2
    assert model.expected("a.example", "new", trials=3, gains=2) == 0.6
    assert model.expected("b.example", "menu") == 0.5, "another host"
    in_vain = learned(*[{"menu": False}] * 6, {"tab": True})
    assert in_vain.expected("a.example", "new") == pytest.approx(6 / 17)
    assert in_vain.expected("a.example", "tab") == pytest.approx((1 + 12 / 17) / 3)


def test_what_brought_nothing_on_earlier_pages_is_last_and_then_left_alone() -> None:
    model = learned({"menu": False, "tab": True})
    assert clicks(PageTrials(model, "a.example", 9), [MENU, MORE, TAB], set()) == [TAB, MORE, MENU]
    model = learned(*[{"menu": False, "tab": True}] * 3)
    assert clicks(PageTrials(model, "a.example", 9), [MENU, MORE, TAB], set()) == [TAB, MORE]
    model = learned(*[{kind: False} for kind in "abcdefghijk"])
    # (0 + 5) / (11 + 10) < 0.25: its controls are known for nothing.
    assert clicks(PageTrials(model, "a.example", 9), [MENU, MORE, TAB], set()) == []
    assert clicks(PageTrials(model, "b.example", 9), [MENU], set()) == [MENU]


def test_what_brought_something_is_clicked_again_when_all_have_been() -> None:
    trials = PageTrials(ControlModel(), "a.example", 6)
    assert clicks(trials, [MORE, TAB, MENU], {MORE}) == [MORE, TAB, MENU, MORE, MORE, MORE]
    assert trials.signs() == {"clicked/menu": 0.0, "clicked/more": 1.0, "clicked/tab": 0.0}
    assert trials.counts() == {"new": 4, "nothing": 2}


def test_of_many_controls_of_one_kind_in_vain_three_are_clicked() -> None:
    many = [Control(number, "menu") for number in range(50)]
    # (0 + 2 * 0.5) / (2 + 2) = 0.25 is tried, / (3 + 2) = 0.2 is not.
    assert clicks(PageTrials(ControlModel(), "a.example", 20), [*many, Control(99, "more")], set()) == [
        *many[:1], Control(99, "more"), *many[1:3],
    ]  # fmt: skip


def test_a_few_characters_may_be_a_clock() -> None:
    trials = PageTrials(ControlModel(), "a.example", 2)
    trials.clicked(MORE, links=0, text=49)
    assert trials.choose([MORE]) is None
    trials.clicked(TAB, links=0, text=50)
    assert trials.signs() == {"clicked/more": 0.0, "clicked/tab": 1.0}
    assert trials.choose([TAB]) is None, "no more than so many"


def test_it_is_learned_from_the_history_and_known_after_a_resume() -> None:
    part = Rendering("always", clicks=5)
    signs = {RENDERED: 4.0, "clicked/menu": 0.0}
    for number in range(3):
        part.learn(FetchEvent(Visit(f"http://a.example/{number}", 200, 1.0, signs=signs)))
    again = Rendering("always", clicks=5)
    again.set_learned(load_values(dump_values(part.learned(), part.learned_classes), part.learned_classes))
    for each in (part, again):
        trials = each.trials(PAGE)
        assert trials is not None and trials.choose([MENU]) is None and trials.choose([MENU, TAB]) == TAB
        assert each.trials(replace(PAGE, url="http://b.example/")).choose([MENU]) == MENU  # type: ignore[union-attr]


def test_nothing_is_clicked_unless_it_is_asked_for() -> None:
    assert Rendering("always").trials(PAGE) is None


@given(st.lists(st.tuples(st.integers(0, 5), st.booleans()), max_size=40), st.integers(0, 20))
def test_never_more_clicks_than_the_limit_and_what_is_expected_is_a_share(
    pages: list[tuple[int, bool]], most: int
) -> None:
    model = learned(*[{str(kind): gained} for kind, gained in pages])
    shown = [Control(number, str(number % 7)) for number in range(9)]
    assert all(0.0 <= model.expected("a.example", control.kind) <= 1.0 for control in shown)
    made = clicks(PageTrials(model, "a.example", most), shown, {shown[3], shown[7]})
    assert len(made) <= most
    assert all(model.expected("a.example", control.kind) >= LEAST for control in made)


@pytest.mark.parametrize(
    "said",
    [
        "Log out", "logout", "Sign-Out", "Delete", "deleteItem(3)", "Remove all", "class btn js-buy", "add_to_cart", "Submit",
        "SUBSCRIBE", "Save", "Share this", "Post comment", "Accept all", "Konto löschen", "Abmelden", "In den Warenkorb",
        "Jetzt kaufen", "Se déconnecter", "Supprimer", "Cerrar sesión", "Eliminar", "Удалить", "删除", "ログアウト",
        "List\nAdd to basket", "cart/add?item=3", "wp-login.php?action=logout",
    ],
)  # fmt: skip
def test_controls_that_only_a_person_may_touch(said: str) -> None:
    assert is_harmful(said) and controls([(0, "button", said)]) == []


@pytest.mark.parametrize(
    "said",
    [
        "Load more", "Show more posts", "More reports", "Next", "Tab 2", "Details", "Comments", "Sort order", "Voir plus",
        "Mehr anzeigen", "Cargar más", "class wp-block-button", "class rounded-lg block", "Commands", "Compressors", "Editions",
        "Installation", "Spending", "Показать ещё", "もっと見る", "api/items?page=2&order=date", "",
    ],
)  # fmt: skip
def test_controls_that_show_more(said: str) -> None:
    assert not is_harmful(said) and len(controls([(0, "button", said)])) == 1


def test_kinds_are_told_apart_by_signature() -> None:
    one, two, other = controls(
        [(0, "button.load li.", "a"), (1, "button.load li.", "b"), (2, "a.load li. \ud800", "c")]
    )
    assert one.kind == two.kind != other.kind and [one.number, two.number, other.number] == [0, 1, 2]
