"""PDF, DOCX and EPUB as pages: each becomes HTML, in a process of its own, before anything of the crawl sees it."""
