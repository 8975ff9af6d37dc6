"""Full-text search over the pages of a crawl folder, in an index inside the folder.

    update(crawl_dir)                      adds the pages crawled since the last update
    search(crawl_dir, "coral reef")        returns the best pages, with highlights

``embedding.update_vectors`` embeds the chunks of these pages, for search by meaning.
All may be called during the crawl, from any thread or process. The index is built on Tantivy
(``docs/adr/0017-tantivy-is-the-index.md``), the vectors on NumPy
(``docs/adr/0067-vectors-in-a-mapped-file.md``).
"""

from crawlproject.exporting.index.hybrid import has_vectors, is_behind_vectors, noted, search, search_words
from crawlproject.exporting.index.search import Hit, SearchResult
from crawlproject.exporting.index.store import is_behind
from crawlproject.exporting.index.update import Updated, update

__all__ = [
    "Hit",
    "SearchResult",
    "Updated",
    "has_vectors",
    "is_behind",
    "is_behind_vectors",
    "noted",
    "search",
    "search_words",
    "update",
]
