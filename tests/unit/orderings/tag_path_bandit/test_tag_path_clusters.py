"""Clusters of tag paths on cosines worked out by hand."""

from __future__ import annotations

from crawlproject.orderings.tag_path_bandit import TagPathClusters


def test_paths_join_the_nearest_cluster_at_a_cosine_of_three_quarters() -> None:
    """2-grams: 7 of the first and 8 of the second are 7 in common, 7 / sqrt(7 * 8) = 0.94; of the third, with a class
    on ul, 5 of 7 are: 5/7 = 0.71.
    """
    clusters = TagPathClusters(0.75)
    assert clusters.cluster_of("html body div ul li a") == 0
    assert clusters.cluster_of("html body div ul li li a") == 0
    assert clusters.cluster_of("html body div ul.menu li a") == 1
    assert TagPathClusters(0.7).cluster_of("html body div ul.menu li a") == 0
    assert len(clusters) == 2


def test_a_path_stays_where_it_is() -> None:
    clusters = TagPathClusters(0.75)
    places = [f"html body div.c{number} {'ul li ' * (number % 5)}a" for number in range(60)]
    first = [clusters.cluster_of(place) for place in places]
    assert [clusters.cluster_of(place) for place in places] == first
    assert max(first) == len(clusters) - 1
