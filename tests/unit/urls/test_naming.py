"""Names of stored pages."""

from __future__ import annotations

from crawlproject.urls.canonical import canonical_url
from crawlproject.urls.hosts import page_name, page_path


def test_the_name_of_the_papers_example() -> None:
    assert page_name(canonical_url("http://www.uiowa.edu/")) == "160766577426e1d01fcb7735091ec584"
    assert page_name(canonical_url("HTTP://www.UIOWA.edu")) == "160766577426e1d01fcb7735091ec584"


def test_the_path_has_two_levels_of_folders() -> None:
    assert page_path("160766577426e1d01fcb7735091ec584") == "16/07/160766577426e1d01fcb7735091ec584"
