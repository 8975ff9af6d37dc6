"""PDF, DOCX and EPUB as pages: a separate process turns each document into HTML before the crawl sees it."""
