"""Charts as SVG."""

import math
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlproject.reports import plots
from crawlproject.reports.comparison import write_svg
from crawlproject.reports.plots import HEIGHT, WIDTH, Axis, Series, line_chart, scatter_chart, style_class, tidy


def points(svg):
    polyline = ElementTree.fromstring(svg).find("polyline")
    return [tuple(map(float, pair.split(","))) for pair in polyline.get("points").split()]


def test_a_line_runs_from_the_lower_left_to_the_upper_right():
    chart = line_chart("t", [Series("a", [0, 10], [0, 1])], Axis("x", 0, 10), Axis("y", 0, 1))
    (left, bottom), (right, top) = points(chart.svg)
    assert 0 < left < right < WIDTH
    assert 0 < top < bottom < HEIGHT


def test_values_outside_an_axis_are_drawn_on_its_edge():
    chart = line_chart("t", [Series("a", [-5, 50], [-1, 2])], Axis("x", 0, 10), Axis("y", 0, 1))
    inside = line_chart("t", [Series("a", [0, 10], [0, 1])], Axis("x", 0, 10), Axis("y", 0, 1))
    assert points(chart.svg) == points(inside.svg)


def test_error_bars_are_drawn_where_they_are_known():
    series = Series("a", [1, 2, 3], [0.5, 0.5, 0.5], [0.1, math.nan, 0.1])
    path = ElementTree.fromstring(line_chart("t", [series], Axis("x", 0, 4), Axis("y", 0, 1)).svg).find("path")
    assert path.get("d").count("V") == 2


def test_names_are_escaped_and_the_legend_follows_the_series():
    chart = line_chart(
        "a < b & c", [Series("<script>", [0], [0]), Series("b", [0], [0])], Axis("<x>", 0, 1), Axis("y", 0, 1)
    )
    ElementTree.fromstring(chart.svg)
    assert "<script>" not in chart.svg
    assert [name for _, name in chart.legend] == ["<script>", "b"]


def test_many_series_differ_in_colour_or_dashes():
    assert len({style_class(index) for index in range(18)}) == 18


@pytest.mark.parametrize(
    ("low", "high", "ticks"),
    [
        (0, 1, [0, 0.2, 0.4, 0.6, 0.8, 1]),
        (0, 1000, [0, 200, 400, 600, 800, 1000]),
        *((3, 3, [3]), (0, 5e-324, [0]), (0, 1e-323, [0]), (-1e308, 1e308, [-1e308]), (0, math.nan, [0])),
    ],
)
def test_ticks_are_round_numbers(low, high, ticks):
    assert Axis("", low, high).ticks() == pytest.approx(ticks)


@given(st.floats(-1e6, 1e6), st.floats(1e-6, 1e6))
def test_ticks_are_few_and_within_the_axis(low, span):
    ticks = Axis("", low, low + span).ticks()
    assert len(ticks) <= 7
    slack = span * 1e-6 + 4 * math.ulp(abs(low) + span)
    assert all(low - slack <= tick <= low + span + slack for tick in ticks)


@pytest.mark.parametrize(
    ("number", "text"), [(0.0, "0"), (-0.00001, "-1e-05"), (0.25, "0.25"), (1000, "1,000"), (2e9, "2e+09")]
)
def test_numbers_on_axes(number, text):
    assert tidy(number) == text


def test_a_scatter_chart_has_a_dot_a_point():
    chart = scatter_chart("t", [(0, 0), (1, 1)], Series("m", [0.5], [0.5]), Axis("x", 0, 1), Axis("y", 0, 1))
    assert len(ElementTree.fromstring(chart.svg).findall("g[@class='dots']/circle")) == 2


def test_scores_that_are_all_equal_have_no_chart():
    assert plots.score_chart(np.array([np.nan, 1, 1, 1]), np.array([0.1, 0.2, 0.3, 0.4])) is None


def test_the_trend_of_scores_averages_tenths():
    scores = np.arange(100.0)
    chart = plots.score_chart(scores, scores / 100)
    assert len(points(chart.svg)) == 10


@pytest.mark.parametrize("pages", [0, 1, 2, 239, 240, 241, 100_000])
def test_lines_are_drawn_at_a_bounded_number_of_points(pages):
    sampled = plots.sample_points(pages)
    assert len(sampled) == min(pages, 240)
    assert sampled == sorted(set(sampled))
    assert not pages or (sampled[0], sampled[-1]) == (1, pages)


def test_a_figure_is_an_svg_file_with_heading_legend_and_colours(tmp_path):
    series = [Series(f"<{number}>", [0, 1], [0, 1]) for number in range(5)]
    write_svg("a < b", line_chart("t", series, Axis("x", 0, 1), Axis("y", 0, 1)), tmp_path / "f.svg")
    root = ElementTree.parse(tmp_path / "f.svg").getroot()
    name = "{http://www.w3.org/2000/svg}"
    assert root.tag == f"{name}svg"
    texts = [text.text for text in root.iter(f"{name}text")]
    assert texts[0] == "a < b" and texts[-5:] == [f"<{number}>" for number in range(5)]
    assert len(list(root.iter(f"{name}polyline"))) == 5
    height = float(root.get("viewBox").split()[3])
    lowest = max(float(line.get("y1")) for line in root.iter(f"{name}line"))
    assert HEIGHT < lowest < height
