"""What a crawl does with a URL, by what it is fetched for: one handler a kind (``CrawlUrl.kind``)."""
