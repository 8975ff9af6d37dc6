"""Sort orders of a list in the path are distinguished from categories by their content."""

from __future__ import annotations

from collections.abc import Iterable
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlproject.parts.verticals.redundancy.path_orders import _GROUPS, PathOrders
from crawlproject.urls.canonical import Canonicalizer

HOST = "http://a.example"
FRAME = [f"{HOST}/{name}" for name in ("", "about", "help", "login", "cart", "item/1", "item/2")]
ORDERS = ("price", "name", "age", "votes")
GOODS = [f"{HOST}/item/{n}" for n in range(1, 61)]


class Shop:
    """Lists of ten items per page. ``place`` is the URL pattern of list pages; ``name`` is empty for the list of all."""

    def __init__(self, place: str, whole: str) -> None:
        self.place, self.whole = place, whole
        self.known: set[str] = set(FRAME)
        self.orders = PathOrders(self.known.__contains__)

    def url(self, name: str, page: int) -> str:
        return HOST + (self.place.format(name=name, page=page) if name else self.whole.format(page=page))

    def visit(self, name: str, page: int, items: Iterable[str], names: Iterable[str] = ORDERS) -> None:
        links = [*FRAME, *items, *(self.url(other, page) for other in names), self.url(name, page + 1)]
        self.known.update([self.url(name, page), *links])
        self.orders.add(self.url(name, page), links)

    def is_order(self, name: str, page: int) -> bool:
        return self.orders.is_order(self.url(name, page))


SHAPES = [
    ("/all/by-{name}/{page}", "/all/{page}"),
    ("/list/sort/{name}/{page}", "/list/{page}"),
    ("/shop/{page}/{name}", "/shop/{page}"),
    ("/shop/by-{name}/page/{page}", "/shop/page/{page}"),
]


@pytest.mark.parametrize(("place", "whole"), SHAPES)
def test_orders_are_recognised_when_they_show_each_others_items(place: str, whole: str) -> None:
    shop = Shop(place, whole)
    shuffled = {order: Random(order).sample(GOODS, 60) for order in ORDERS}
    for page in (1, 2, 3):
        shop.visit("", page, GOODS[10 * page - 10 : 10 * page])
        for order in ORDERS:
            if page > 1 or order == "price":
                assert not shop.is_order("votes", 1) or page == 3
            shop.visit(order, page, shuffled[order][10 * page - 10 : 10 * page])
    shop.visit("", 4, GOODS[30:40])
    assert all(shop.is_order(order, 4) for order in ORDERS) and shop.is_order("weight", 4), "one never seen, too"
    assert not shop.is_order("", 4) and not shop.is_order("price", 9), "a list that nobody knows may be new"
    assert not shop.orders.is_order(f"{HOST}/item/7") and not shop.orders.is_order(FRAME[1])


@pytest.mark.parametrize(("place", "whole"), SHAPES)
@pytest.mark.parametrize("shared", [0, 3, 6])
def test_categories_are_not_though_they_share_items(place: str, whole: str, shared: int) -> None:
    """A front list of ten items, and four different categories with some items of the front list."""
    shop = Shop(place, whole)
    for page in (1, 2, 3):
        shop.visit("", page, GOODS[10 * page - 10 : 10 * page])
        for number, category in enumerate(ORDERS):
            own = [f"{HOST}/item/{1000 * number + 10 * page + k}" for k in range(10 - shared)]
            shop.visit(category, page, [*own, *GOODS[10 * page - 10 : 10 * page - 10 + shared]])
    assert not any(shop.is_order(category, page) for category in ORDERS for page in range(1, 6))


def test_one_category_with_items_of_its_own_speaks_for_all() -> None:
    shop = Shop(*SHAPES[0])
    for page in (1, 2):
        shop.visit("", page, GOODS[10 * page - 10 : 10 * page])
        for order in ("price", "name"):
            shop.visit(order, page, reversed(GOODS[10 * page - 10 : 10 * page]))
    assert shop.is_order("price", 3)
    shop.visit("fish", 1, [f"{HOST}/item/{n}" for n in range(900, 910)])
    assert not shop.is_order("price", 3) and not shop.is_order("fish", 2)


def test_a_handful_of_items_and_a_single_order_say_nothing() -> None:
    few, single = Shop(*SHAPES[0]), Shop(*SHAPES[0])
    for page in (1, 2, 3):
        few.visit("", page, GOODS[page : page + 1])
        few.visit("price", page, GOODS[page : page + 1])
        few.visit("name", page, GOODS[page : page + 1])
        single.visit("", page, GOODS[10 * page - 10 : 10 * page])
        single.visit("price", page, GOODS[10 * page - 10 : 10 * page])
    assert not few.is_order("price", 4) and not single.is_order("price", 4)


@given(st.lists(st.tuples(st.text(), st.lists(st.text(), max_size=6)), max_size=8))
def test_nothing_that_a_site_links_to_breaks_it(pages: list[tuple[str, list[str]]]) -> None:
    canonical = Canonicalizer()
    orders = PathOrders(lambda url: True)
    for path, links in pages:
        urls = [canonical(f"{HOST}/{text.replace('#', '')}") for text in (path, *links)]
        orders.add(urls[0], urls[1:])
        assert orders.is_order(urls[0]) in (True, False)


def test_what_is_remembered_is_bounded() -> None:
    orders = PathOrders(lambda url: True)
    for number in range(_GROUPS + 20):
        name = "".join(chr(97 + int(digit)) for digit in str(number))
        for word in ("x", "y", *(f"z{chr(97 + k)}" for k in range(13 if number < 2 else 1))):
            orders.add(f"{HOST}/{name}/{word}", [f"{HOST}/item/{k}" for k in range(2_000 if number < 2 else 9)])
    assert len(orders._groups) <= _GROUPS and sum(map(len, orders._of_list.values())) <= _GROUPS
    assert max(len(counts) for group in orders._groups.values() for counts in group.links.values()) <= 600
    assert max(len(group.links) for group in orders._groups.values()) <= 12
