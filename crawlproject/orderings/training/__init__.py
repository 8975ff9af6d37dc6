"""What orderings learn from before the crawl: a topic's examples, and the pages and paths of an archive."""
