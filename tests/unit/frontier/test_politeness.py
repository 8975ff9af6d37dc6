from __future__ import annotations

import math

import pytest

from crawlproject.frontier.politeness import Politeness


def test_it_returns_whether_a_delay_is_new():
    politeness = Politeness()
    assert not politeness.crawl_delay("a.test", 0.0)
    assert politeness.crawl_delay("a.test", 5.0)
    assert not politeness.crawl_delay("a.test", 5.0)
    assert dict(politeness.crawl_delays()) == {"a.test": 5.0}
    assert politeness.crawl_delay("a.test", math.nan)
    assert dict(politeness.crawl_delays()) == {}


@pytest.mark.parametrize("name", ["min_delay", "factor"])
@pytest.mark.parametrize("wrong", [-1.0, math.nan, math.inf])
def test_a_wrong_parameter_is_named(name, wrong):
    with pytest.raises(ValueError, match=name):
        Politeness(**{name: wrong})


def test_a_margin_lengthens_every_rest_but_none():
    assert Politeness(0.5, 0.0, margin=0.005).next_visit("a", 100.0, 3.0) == pytest.approx(100.505)
    assert Politeness(0.0, 0.0, margin=0.005).next_visit("a", 100.0, 3.0) == 100.0
