"""What a person said of stored pages, and how a running crawl learns from it."""
