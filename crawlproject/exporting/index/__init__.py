"""Full-text search over the pages of a crawl folder, in an index inside the folder.

    update(crawl_dir)                      adds what was crawled since the last time
    search(crawl_dir, "coral reef")        the best pages, with highlights

Both may be called during the crawl, from any thread or process. Built on Tantivy
(``docs/adr/0017-tantivy-is-the-index.md``).
"""

from crawlproject.exporting.index.search import Hit, Match, SearchResult, frequencies, matches, search
from crawlproject.exporting.index.store import is_behind
from crawlproject.exporting.index.update import Updated, update

__all__ = ["Hit", "Match", "SearchResult", "Updated", "frequencies", "is_behind", "matches", "search", "update"]
