from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from crawlproject.frontier.host_queue import LazyHeap


def test_the_dead_never_outnumber_the_living_by_much():
    asked = 0
    alive: set[int] = set()

    def lives(item: tuple[int]) -> bool:
        nonlocal asked
        asked += 1
        return item[0] in alive

    heap = LazyHeap(lives)
    for number in range(10_000):
        heap.push((number,))
        alive.add(number)
        if number >= 100:
            alive.remove(number - 50)
            heap.died()
    assert len(heap) == len(alive) == 100
    asked = 0
    while heap.pop():
        pass
    assert asked < 400, "9,900 dead have left before they came to the top"


@given(st.lists(st.tuples(st.integers(0, 20), st.booleans()), max_size=300))
def test_it_gives_the_least_of_the_living(operations):
    living: set[int] = set()
    heap = LazyHeap(lambda item: item[0] in living)
    for number, arrives in operations:
        if arrives and number not in living:
            living.add(number)
            heap.push((number,))
        elif not arrives and number in living:
            living.remove(number)
            heap.died()
        assert heap.first() == ((min(living),) if living else None)
