"""What the parts of a score mean, in words; ``adaptive`` has the most (``orderings/adaptive/link_features.py``)."""

from __future__ import annotations

MEANINGS = {
    "anchor": "keywords in the text of the link",
    "around": "keywords around the link",
    "words": "keywords in the URL",
    "anchor feedback": "words of the best pages in the text of the link",
    "words feedback": "words of the best pages in the URL",
    "best parent": "the best page that links here",
    "mean parent": "the mean of the pages that link here",
    "parents": "all pages that link here together",
    "host": "what was found on its host",
    "folder": "what was found in its folder of that host",
    "place": "what links at the same place of pages of the same site led to",
    "family": "what other links of the same page led to",
    "always": "the same for every link",
    "behind": "what is expected of the pages that it links to",
    "exploration": "raised, because little is known of its kind",
    "learned since": "what was learned after it had got this score",
}
